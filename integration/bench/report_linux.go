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
)

// report is one run: what --json writes.
type report struct {
	Time      time.Time         `json:"time"`
	Kernel    string            `json:"kernel"`
	Go        string            `json:"go"`
	CPUs      int               `json:"cpus"`
	LoadStart string            `json:"load_start"` // /proc/loadavg: 1, 5 and 15 minutes
	LoadEnd   string            `json:"load_end"`
	Quick     bool              `json:"quick"`
	Halves    []*figures.Half   `json:"halves"`
	Must      []figures.Verdict `json:"must"`
	Later     []figures.Verdict `json:"later"`
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
	}
	figures.PrintVerdicts(w, "To reach now", r.Must)
	for _, h := range r.Halves {
		for _, peer := range []string{"loopback", "bindfs"} {
			printAhead(w, h, peer)
		}
	}
	figures.PrintVerdicts(w, "To reach next", r.Later)
	fmt.Fprintf(w, "\nload %s at the end, the bench's own work included\n", r.LoadEnd)
}

// noise is how far apart two medians may lie and still count as the same.
const noise = 1.05

// printAhead says on how many rows pinfold is ahead of a peer, and where not.
func printAhead(w io.Writer, h *figures.Half, peer string) {
	if !slices.Contains(h.Columns, "pinfold") || !slices.Contains(h.Columns, peer) {
		return
	}
	ahead, of := 0, 0
	var behind []string
	for _, row := range h.Rows {
		ours, theirs := row.Cells["pinfold"].Median(), row.Cells[peer].Median()
		switch {
		case row.Name == "host_edit" || theirs == 0: // a bound, and a row they can not run
			continue
		case ours > 0 && ours <= theirs*noise:
			ahead++
		case ours == 0:
			behind = append(behind, row.Name+" (failed)")
		default:
			behind = append(behind, fmt.Sprintf("%s (%.2f)", row.Name, ours/theirs))
		}
		of++
	}
	fmt.Fprintf(w, "%s: pinfold ahead of %s, or within %.0f %%, on %d of %d rows", h.Name, peer, (noise-1)*100, ahead, of)
	if len(behind) > 0 {
		fmt.Fprintf(w, "; behind on %s", strings.Join(behind, ", "))
	}
	fmt.Fprintln(w)
}

func (r *report) write(name string) error {
	b, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(b, '\n'), 0o644)
}
