package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/integration/bench/figures"
	"github.com/pinfold-dev/pinfold/integration/bench/mcpbench"
	"github.com/pinfold-dev/pinfold/integration/bench/viewbench"
)

// report is one run: what --json writes.
type report struct {
	Time        time.Time             `json:"time"`
	Kernel      string                `json:"kernel"`
	Go          string                `json:"go"`
	CPUs        int                   `json:"cpus"`
	LoadStart   string                `json:"load_start"` // /proc/loadavg: 1, 5 and 15 minutes
	LoadEnd     string                `json:"load_end"`
	Quick       bool                  `json:"quick"`
	Halves      []*figures.Half       `json:"halves"`
	Allocations []mcpbench.Allocation `json:"allocations,omitempty"`
	Must        []figures.Verdict     `json:"must"`
	Later       []figures.Verdict     `json:"later"`
}

func newReport(o options) *report {
	var u unix.Utsname
	_ = unix.Uname(&u)
	return &report{Time: time.Now().UTC(), Kernel: unix.ByteSliceToString(u.Release[:]),
		Go: runtime.Version(), CPUs: runtime.NumCPU(), LoadStart: load(), Quick: o.quick}
}

func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	f := strings.Fields(string(b))
	if err != nil || len(f) < 3 {
		return "unknown"
	}
	return strings.Join(f[:3], " ")
}

func (r *report) printHead(w io.Writer) {
	fmt.Fprintf(w, "pinfold bench: Linux %s, %s, %d CPUs, load %s at the start\n", r.Kernel, r.Go, r.CPUs, r.LoadStart)
	if r.Quick {
		fmt.Fprintln(w, "--quick: a small tree and few rounds; this shows that it runs, not how fast")
	}
}

// end judges what there is.
func (r *report) end() {
	r.LoadEnd = load()
	for _, g := range goals() {
		v, ok := g.Judge(r.Halves)
		switch {
		case !ok:
		case g.Must:
			r.Must = append(r.Must, v)
		default:
			r.Later = append(r.Later, v)
		}
	}
}

func (r *report) print(w io.Writer) {
	for _, h := range r.Halves {
		h.Print(w)
		for _, column := range []string{viewbench.Pinfold, viewbench.Also} {
			h.PrintAgainst(w, column, append(viewbench.Rivals(), mcpbench.Official), slices.Concat(r.Must, r.Later))
		}
	}
	mcpbench.PrintAllocations(w, r.Allocations)
	figures.PrintVerdicts(w, "To reach now", r.Must)
	figures.PrintVerdicts(w, "To reach next", r.Later)
	fmt.Fprintf(w, "\nload %s at the end, the bench's own work included\n", r.LoadEnd)
}

func (r *report) write(name string) error {
	b, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(b, '\n'), 0o644)
}
