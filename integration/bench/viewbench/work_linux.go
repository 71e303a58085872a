package viewbench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/integration/bench/figures"
	"github.com/pinfold-dev/pinfold/integration/bench/worker"
)

// StartRow is the row of how long it takes to run a command.
const StartRow = "startup"

// Work lists the rows that everybody in the table can do, and start-up, which
// is about those that run a command.
func (b *Bench) Work() []figures.Work {
	var work []figures.Work
	for _, r := range worker.Rows() {
		work = append(work, figures.Work{Name: r.Name, Title: r.Title, Columns: b.half.Columns, Most: r.Repeat, Times: r.Times,
			Measure: func(ctx context.Context, column string) (float64, error) { return b.measure(ctx, r, column) }})
	}
	start := figures.Work{Name: StartRow, Title: "start-up to true", Measure: b.startUp}
	for _, e := range b.envs {
		if e.kind.Mount == nil {
			start.Columns = append(start.Columns, e.kind.Name)
		}
	}
	return append(work, start)
}

// Arrangement notes what each environment lies on, as the kernel tells it
// from within.
func (b *Bench) Arrangement(ctx context.Context) {
	for _, e := range b.envs {
		r, err := e.worker.do(ctx, worker.Request{Row: "mounts"})
		if err != nil {
			r.Text = err.Error()
		}
		if r.Text != "" {
			b.half.Notes = append(b.half.Notes, fmt.Sprintf("%s in use: %s", e.kind.Name, r.Text))
		}
	}
}

// ProbeRow is the row of HostEdit: how long a change stays unseen.
const ProbeRow = "host_edit"

// HostEdit is a row: a file that each environment has read is rewritten from
// outside; the figure is the time until the change is seen inside.
func (b *Bench) HostEdit() figures.Work {
	n := 0
	return figures.Work{Name: ProbeRow, Title: "host edit seen after", Apart: true, Columns: b.half.Columns,
		Measure: func(ctx context.Context, column string) (float64, error) {
			n++
			name := filepath.Join(b.o.Tree, worker.ProbeFile)
			was, err := os.ReadFile(name)
			if err != nil {
				return 0, err
			}
			w := b.env(column).worker
			if _, err := w.do(ctx, worker.Request{Row: "probe", Text: string(was)}); err != nil {
				return 0, err
			}
			text := fmt.Sprintf("edit %d", n)
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				return 0, err
			}
			r, err := w.do(ctx, worker.Request{Row: "probe", Text: text})
			return r.NS, err
		}}
}

// settle is how long all the daemons get to hear what the kernel forgot,
// before anything is measured: nothing tells when they are done.
const settle = 150 * time.Millisecond

// dropEntries empties the kernel's caches of names and inodes. What is dirty
// is written first, or it would stay.
func dropEntries() error {
	unix.Sync()
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("2"), 0); err != nil {
		return fmt.Errorf("cold rows need root: %w", err)
	}
	time.Sleep(settle)
	return nil
}

// missing says which program of a kind is not there.
func (b *Bench) missing(k Kind) error {
	for _, program := range k.Needs {
		if _, err := os.Stat(filepath.Join(b.o.Bin, program)); err == nil {
			continue
		}
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s: %w", k.Name, err)
		}
	}
	return nil
}

// numbered repeats a flag with numbered values.
func numbered(flag, format string, n int) []string {
	var args []string
	for i := range n {
		args = append(args, flag, fmt.Sprintf(format, i))
	}
	return args
}
