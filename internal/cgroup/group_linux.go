package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Group is a control group with limits, which this process has made. What has ended in it
// is told until it is removed.
type Group struct {
	place  *place
	name   string
	lock   *os.File
	events *os.File // memory.events; nil where memory is not bounded
	cpu    *os.File // cpu.max; nil where processors are not bounded
}

// Refused says why no group can be had.
type Refused struct {
	Own     error // of one that is delegated
	Systemd error // of one that systemd makes
}

func (e *Refused) Error() string {
	return fmt.Sprintf("no control group can be had: %v; and of systemd: %v", e.Own, e.Systemd)
}

// Unwrap returns both.
func (e *Refused) Unwrap() []error { return []error{e.Own, e.Systemd} }

// New makes a group and puts the process pid into it. pid and keeper are children of this
// process, which wait; keeper is to call Keep. An error says that nothing is bounded, and
// is a *Refused.
func New(ctx context.Context, l Limits, pid, keeper int) (*Group, error) {
	p, own := delegated(l)
	if own == nil {
		g, err := p.take(l, pid)
		if err == nil {
			return g, nil
		}
		own = err
	}
	p, err := ofSystemd(ctx, l, pid, keeper)
	if err == nil {
		var g *Group
		if g, err = p.take(l, pid); err == nil {
			return g, nil
		}
	}
	return nil, &Refused{Own: own, Systemd: err}
}

// take makes a leaf and puts a process into it.
func (p *place) take(l Limits, pid int) (*Group, error) {
	g, err := p.leaf(l)
	if err == nil {
		if err = write(p.root, filepath.Join(g.name, procs), strconv.Itoa(pid)); err == nil {
			return g, nil
		}
		err = errors.Join(fmt.Errorf("a process cannot be moved into the group %s: %w", filepath.Join(p.name, g.name), err), p.root.Remove(g.name))
		p.restore() // before its place is closed
		return nil, errors.Join(err, g.Close())
	}
	p.restore()
	p.close()
	return nil, err
}

// cpuPeriod is the kernel's usual one, in microseconds, and leastQuota its least.
const (
	cpuPeriod  = 100_000
	leastQuota = 1_000
)

// bound writes the limits.
func (g *Group) bound(l Limits) error {
	set := func(file, value string) error {
		if err := write(g.place.root, filepath.Join(g.name, file), value); err != nil {
			return fmt.Errorf("set %s to %s: %w", file, value, err)
		}
		return nil
	}
	var err error
	if l.Memory > 0 {
		err = errors.Join(set("memory.max", strconv.FormatInt(l.Memory, 10)), set("memory.oom.group", "1"))
		if swap := set("memory.swap.max", "0"); !errors.Is(swap, fs.ErrNotExist) || swaps() {
			err = errors.Join(err, swap)
		}
		if err == nil {
			g.events, err = g.place.root.Open(filepath.Join(g.name, "memory.events"))
		}
	}
	if l.CPU > 0 {
		quota := max(leastQuota, int64(l.CPU*cpuPeriod))
		err = errors.Join(err, set("cpu.max", fmt.Sprintf("%d %d", quota, cpuPeriod)))
		if err == nil {
			g.cpu, err = g.place.root.OpenFile(filepath.Join(g.name, "cpu.max"), os.O_WRONLY, 0)
		}
	}
	if l.Tasks > 0 {
		err = errors.Join(err, set("pids.max", strconv.Itoa(l.Tasks)))
	}
	return err
}

// swaps reports whether memory is swapped out here, to somewhere.
func swaps() bool {
	data, err := os.ReadFile("/proc/swaps")
	return err == nil && strings.Count(string(data), "\n") > 1
}

// OutOfMemory reports whether the kernel has killed what was in the group, since it took
// more memory than it may.
func (g *Group) OutOfMemory() bool {
	if g == nil || g.events == nil {
		return false
	}
	data := make([]byte, 4096)
	n, _ := g.events.ReadAt(data, 0) // it is shorter
	counts := map[string]bool{}
	for line := range strings.Lines(string(data[:n])) {
		name, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		counts[name] = count != "0"
	}
	// oom is of this group's own bound; the rest may be the machine's, or that of a group above.
	return counts["oom"] && (counts["oom_kill"] || counts["oom_group_kill"])
}

// Hurry lifts the bound on processors, for the end of what is in the group: also to be
// killed a process has to run.
func (g *Group) Hurry() {
	if g != nil && g.cpu != nil {
		_, _ = g.cpu.WriteString("max") // without it the end takes longer
	}
}

// Kept is what Keep has to know.
type Kept struct {
	Name     string   // of the group, in its place
	Restored []string // the controllers of the place that are given back
}

// Place is the directory in which the group lies, for Keep, and what it has to know. The
// group closes it.
func (g *Group) Place() (*os.File, Kept, error) {
	dir, err := g.place.root.Open(".")
	return dir, Kept{Name: g.name, Restored: g.place.enable}, err
}

// Close lets go of the group, which Keep removes.
func (g *Group) Close() error {
	err := g.lock.Close()
	for _, f := range []*os.File{g.events, g.cpu} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	g.place.close()
	return err
}

const (
	// removing is how long a group may take to become empty, once all that is in it is
	// killed.
	removing = time.Minute
	again    = 5 * time.Millisecond
)

// Keep ends what is in a group and removes it, and gives its place back as it was. It is
// for a process of its own, which lives on where the one that made the group was killed.
func Keep(dir *os.File, k Kept) error {
	root, err := os.OpenRoot("/proc/self/fd/" + strconv.Itoa(int(dir.Fd())))
	if err != nil {
		return err
	}
	p := &place{root: root, enable: k.Restored}
	defer p.close()
	// Nothing else ends there: the processes die with the one that made the group. This
	// is for what the kernel could not kill yet.
	_ = write(root, filepath.Join(k.Name, "cgroup.kill"), "1") // before Linux 5.14 there is none
	for begin := time.Now(); time.Since(begin) < removing; time.Sleep(again) {
		if err = root.Remove(k.Name); err == nil || errors.Is(err, fs.ErrNotExist) {
			p.restore()
			return nil
		}
	}
	return err
}
