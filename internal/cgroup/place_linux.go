package cgroup

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	prefix = "pinfold-"    // of the names of leaves
	others = "pinfold-own" // where what is in the group itself is moved to
	subs   = "cgroup.subtree_control"
	procs  = "cgroup.procs"
)

// place is a group in which leaves can be made.
type place struct {
	root   *os.Root
	name   string   // for messages
	moved  []int    // what was moved to others, from the group itself
	enable []string // the controllers that were enabled for that
}

// version2 is where control groups of version 2 are mounted, and which of them is shown
// there.
func version2() (at, root string, err error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", "", err
	}
	defer func() { _ = f.Close() }() // was only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		before, after, _ := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(before)
		if kind := strings.Fields(after); len(kind) > 0 && kind[0] == "cgroup2" && len(fields) > 4 {
			return fields[4], fields[3], nil
		}
	}
	return "", "", errors.Join(lines.Err(), errors.New("control groups of version 2 are not mounted"))
}

// groupOf is the directory of a process's group, and the topmost one that is shown.
func groupOf(pid int) (dir, top string, err error) {
	top, root, err := version2()
	if err != nil {
		return "", "", err
	}
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(data)) {
		name, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::")
		if !ok {
			continue
		}
		rest, err := filepath.Rel(root, name)
		if err != nil || !filepath.IsLocal(rest) {
			return "", "", fmt.Errorf("the group %s lies outside of what is mounted at %s", name, top)
		}
		return filepath.Join(top, rest), top, nil
	}
	return "", "", errors.New("the process is in no control group of version 2")
}

// delegated finds a place in the group of this process, in which nothing but ours may be,
// or beside it.
func delegated(l Limits) (*place, error) {
	dir, top, err := groupOf(os.Getpid())
	if err != nil {
		return nil, err
	}
	p, err := open(dir)
	if err != nil {
		return nil, err
	}
	ready, err := p.has(subs, l)
	if err == nil && ready {
		return p, nil
	}
	if err == nil {
		err = p.clear(l)
	}
	if err == nil {
		return p, nil
	}
	p.close()
	if _, managed := os.Lstat("/run/systemd/system"); managed == nil || dir == top {
		return nil, err // all groups above are systemd's, if it did not delegate them
	}
	above, openErr := open(filepath.Dir(dir))
	if openErr != nil {
		return nil, err
	}
	if ready, _ := above.has(subs, l); !ready {
		above.close()
		return nil, err
	}
	return above, nil
}

func open(dir string) (*place, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &place{root: root, name: dir}, nil
}

func (p *place) close() { _ = p.root.Close() } // holds a descriptor, nothing to lose

// has reports whether a file of the group names all controllers of l.
func (p *place) has(file string, l Limits) (bool, error) {
	data, err := p.root.ReadFile(file)
	if err != nil {
		return false, err
	}
	there := strings.Fields(string(data))
	return !slices.ContainsFunc(l.controllers(), func(c string) bool { return !slices.Contains(there, c) }), nil
}

// clear moves what is in the group itself into a leaf, as the kernel wants it, and
// enables the controllers. It is for a group in which nothing but ours is.
func (p *place) clear(l Limits) error {
	if there, err := p.has("cgroup.controllers", l); err != nil {
		return err
	} else if !there {
		return fmt.Errorf("the group %s has not all of the controllers %s", p.name, strings.Join(l.controllers(), ", "))
	}
	data, err := p.root.ReadFile(procs)
	if err != nil {
		return err
	}
	for field := range strings.FieldsSeq(string(data)) {
		pid, err := strconv.Atoi(field)
		if err != nil || !ours(pid) {
			return fmt.Errorf("in the group %s are other processes, and the kernel bounds a group beneath one only where none is", p.name)
		}
		p.moved = append(p.moved, pid)
	}
	if err := p.root.Mkdir(others, 0o755); err != nil && !errors.Is(err, fs.ErrExist) { // one may have been left
		return fmt.Errorf("the group %s is not delegated: %w", p.name, err)
	}
	for _, pid := range p.moved {
		if err = write(p.root, filepath.Join(others, procs), strconv.Itoa(pid)); err != nil {
			break
		}
	}
	p.enable = l.controllers()
	if err == nil {
		err = write(p.root, subs, "+"+strings.Join(p.enable, " +"))
	}
	if err != nil {
		p.restore()
		return fmt.Errorf("the group %s is not delegated: %w", p.name, err)
	}
	return nil
}

// ours reports whether a process is this one or descends from it, as the set-up helper and
// what serves the run's network do.
func ours(pid int) bool {
	for range 64 { // a circle would need a parent that is its own descendant
		if pid == os.Getpid() {
			return true
		}
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			return false
		}
		// The name, in brackets, may hold anything; the state and the parent follow it.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 {
			return false
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil || pid <= 1 {
			return false
		}
	}
	return false
}

// restore undoes what clear did.
func (p *place) restore() {
	if len(p.enable) == 0 {
		return
	}
	if leafs, err := fs.Glob(p.root.FS(), prefix+"*"); err == nil && slices.ContainsFunc(leafs, func(name string) bool { return name != others }) {
		return // another run has begun beneath it, and is bounded by them
	}
	_ = write(p.root, subs, "-"+strings.Join(p.enable, " -")) // what cannot be undone stays, and does no harm
	data, _ := p.root.ReadFile(filepath.Join(others, procs))
	for pid := range strings.FieldsSeq(string(data)) {
		_ = write(p.root, procs, pid)
	}
	_ = p.root.Remove(others)
}

// write writes a file of a group: there is none to be made.
func write(at *os.Root, file, value string) error {
	f, err := at.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// leaf makes a leaf with limits. Its lock says that somebody uses it.
func (p *place) leaf(l Limits) (*Group, error) {
	p.sweep()
	for n := range 100 { // other process namespaces have processes of this number, too
		name := prefix + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(n)
		err := p.root.Mkdir(name, 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the group %s is not delegated: %w", p.name, err)
		}
		lock, err := p.lock(name)
		if err != nil {
			continue // it was swept away
		}
		g := &Group{place: p, name: name, lock: lock}
		if err := g.bound(l); err != nil {
			_ = p.root.Remove(name) // what is told is why there are no limits
			return nil, errors.Join(err, lock.Close())
		}
		return g, nil
	}
	return nil, fmt.Errorf("the group %s has too many leaves", p.name)
}

// lock takes a leaf that nobody has.
func (p *place) lock(name string) (*os.File, error) {
	f, err := p.root.Open(name)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		var held, named fs.FileInfo
		if held, err = f.Stat(); err == nil {
			named, err = p.root.Stat(name)
		}
		if err == nil && !os.SameFile(held, named) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweep removes leaves that nobody has any more: their run, and what looks after it, were
// killed.
func (p *place) sweep() {
	dir, err := p.root.Open(".")
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }() // was only read
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) || name == others {
			continue
		}
		if lock, err := p.lock(name); err == nil {
			_ = p.root.Remove(name) // one that holds processes stays
			_ = lock.Close()
		}
	}
}
