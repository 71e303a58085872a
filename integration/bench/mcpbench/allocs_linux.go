package mcpbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// AllocsRow is the name by which --rows asks for Allocations.
const AllocsRow = "allocs"

// Allocation is what one call of a skill takes from the heap, in the process
// that calls it: no server and no protocol.
type Allocation struct {
	Skill  string  `json:"skill"`
	Doing  string  `json:"doing"`
	Allocs float64 `json:"allocs"` // objects
	Bytes  float64 `json:"bytes"`
}

// searched is how many files the searches and the list go through.
const searched = 100

// allocations are the calls, by skill: what the i-th call says. No call does
// what an earlier one has done already, but for those that only read.
var allocations = map[string]struct {
	doing string
	input func(i int) string
}{
	"read_file":      {"1 KiB", always(`{"path":"` + smallFile + `"}`)},
	"list_directory": {fmt.Sprintf("%d names", searched), always(`{"path":"forest/d000"}`)},
	"glob":           {fmt.Sprintf("%d files", searched), always(`{"path":"forest","pattern":"**/*` + rareEnding + `"}`)},
	"grep":           {fmt.Sprintf("%d files", searched), always(`{"path":"forest","pattern":"` + rareText + `","output":"files"}`)},
	"file_info":      {"1 KiB", always(`{"path":"` + smallFile + `"}`)},
	"write_file":     {"1 KiB", func(i int) string { return fmt.Sprintf(`{"path":"written.txt","content":"%01024d"}`, i) }},
	"edit_file":      {"1 KiB", turning(`{"path":"edited.txt","old_string":"@old","new_string":"@new"}`)},
	"edit_file_batch": {"1 KiB, 2 edits", turning(`{"path":"batch.txt","edits":[` +
		`{"old_string":"@old\nsome","new_string":"@new\nsome"},{"old_string":"@old.end","new_string":"@new.end"}]}`)},
	"append_file":   {"to 1 KiB, growing", always(`{"path":"log.txt","content":"line"}`)},
	"regex_replace": {"1 KiB", turning(`{"path":"regex.txt","pattern":"^@old","replacement":"@new"}`)},
	"mkdir":         {"2 levels", func(i int) string { return fmt.Sprintf(`{"path":"made/%d/sub"}`, i) }},
	"copy_file":     {"1 KiB", func(i int) string { return fmt.Sprintf(`{"source":"small.txt","destination":"copies/%d"}`, i) }},
	"rename":        {"1 KiB", func(i int) string { return fmt.Sprintf(`{"source":"moved%d","destination":"moved%d"}`, i, i+1) }},
}

func always(input string) func(int) string { return func(int) string { return input } }

// turning undoes every other time what it did the time before.
func turning(input string) func(int) string {
	return func(i int) string {
		from, to := oldWord, newWord
		if i%2 == 1 {
			from, to = to, from
		}
		return strings.NewReplacer("@old", from, "@new", to).Replace(input)
	}
}

// Allocations calls each skill that is on by default calls times, and counts.
// dir is an empty directory. Nothing is timed and nothing synced: other work on
// the machine does not change the figures, but for a per cent of what pools
// lose to the collector. A skill without a call in here is an error.
func Allocations(ctx context.Context, dir string, calls int) (_ []Allocation, err error) {
	if err := growTree(dir, searched); err != nil {
		return nil, err
	}
	old := oldWord + "\n"
	for name, data := range map[string]string{"moved0": old, "regex.txt": old + strings.Repeat("some words\n", 92),
		"batch.txt": old + strings.Repeat("some words\n", 90) + oldWord + ".end\n", "log.txt": strings.Repeat("some words\n", 93)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			return nil, err
		}
	}
	r, err := pathresolver.New(pathresolver.Config{Root: dir, WritePaths: []string{"."}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	set, err := fileskills.New(fileskills.Config{Resolver: r, NoSync: true})
	if err != nil {
		return nil, err
	}
	var all []Allocation
	for _, k := range set.Skills() {
		work, ok := allocations[k.Name]
		if !ok {
			return nil, fmt.Errorf("allocations: no call of %s is known", k.Name)
		}
		a := Allocation{Skill: k.Name, Doing: work.doing}
		if a.Allocs, a.Bytes, err = allocated(ctx, set, k.Name, work.input, calls); err != nil {
			return nil, fmt.Errorf("allocations: %s: %w", k.Name, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// allocated counts what calls take each, after some that are not counted.
func allocated(ctx context.Context, set *fileskills.Set, name string, input func(int) string, calls int) (allocs, size float64, err error) {
	inputs := make([][]byte, warm+calls)
	for i := range inputs {
		inputs[i] = []byte(input(i))
	}
	var before, after runtime.MemStats
	for i, in := range inputs {
		if i == warm {
			runtime.GC()
			runtime.ReadMemStats(&before)
		}
		if _, err := set.Call(ctx, name, in); err != nil {
			return 0, 0, err
		}
	}
	runtime.ReadMemStats(&after)
	n := float64(calls)
	return float64(after.Mallocs-before.Mallocs) / n, float64(after.TotalAlloc-before.TotalAlloc) / n, nil
}

// PrintAllocations writes them as a table; of none, nothing.
func PrintAllocations(w io.Writer, all []Allocation) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, "\nAllocations of a Set.Call, in process")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "skill\ton\tallocations\tbytes\t")
	for _, a := range all {
		fmt.Fprintf(t, "%s\t%s\t%.1f\t%.0f\t\n", a.Skill, a.Doing, a.Allocs, a.Bytes)
	}
	_ = t.Flush()
}
