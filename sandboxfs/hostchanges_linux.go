package sandboxfs

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// What is repeated of a change of the host, in which mount, and in which order. It decides
// what programs in the view hear of.

// happened repeats what an event tells of a name in a directory. Several things that
// were done to it soon after one another are one event.
func (e *hostEvents) happened(d heardDir, name string, mask uint64, typ uint32) {
	if name == "." {
		name = ""
	}
	if name != "" && !e.shows(d, name) || name == "" && d.c.rules().Verdict(d.place).Hidden {
		return
	}
	fixed := name == "" || e.fixed(d, name)
	mode, there := e.typeAt(d, name)
	gone := func() {
		// Who has looked up what stands there now is not to lose it.
		if mask&unix.FAN_DELETE != 0 && !fixed && (!there || !e.current(d.c, d.n, name)) {
			e.do(d, HostEvent{Op: HostDelete, Name: name, Mode: typ}, nil)
		}
	}
	if there {
		gone()
	}
	if mask&unix.FAN_CREATE != 0 && !fixed {
		made := mode
		if !there {
			made = typ // it has moved on, as the next event will say
		}
		e.do(d, HostEvent{Op: HostCreate, Name: name, Mode: made}, nil)
	}
	if there {
		e.changed(d, name, mask, mode)
	} else {
		gone()
	}
}

// changed repeats what was done to the file itself.
func (e *hostEvents) changed(d heardDir, name string, mask uint64, mode uint32) {
	if child := d.c.tab.child(d.n, name); child != nil {
		if d.c.opens.writtenThrough(child) {
			mask &^= unix.FAN_MODIFY | unix.FAN_CLOSE_WRITE // a program in the view did it, and the kernel has told
		}
		if mask&(unix.FAN_MODIFY|unix.FAN_ATTRIB) != 0 {
			d.c.conn.ForgetInode(child.id)
		}
	}
	for _, r := range []struct {
		bit uint64
		op  HostOp
	}{{unix.FAN_ATTRIB, HostAttrib}, {unix.FAN_MODIFY, HostModify}, {unix.FAN_CLOSE_WRITE, HostClose}} {
		if mask&r.bit == 0 || r.op != HostAttrib && mode != unix.S_IFREG || mode == unix.S_IFLNK {
			continue
		}
		e.do(d, HostEvent{Op: r.op, Name: name, Mode: mode}, nil)
		if c := e.mountOn(d, name); c != nil {
			e.do(heardDir{c, c.tab.get(fuseconn.RootID), c.Place}, HostEvent{Op: r.op, Mode: mode}, nil)
		}
	}
}

// renamed repeats a rename in each mount that shows both directories; where one shows
// one of them alone, the name went or came.
func (e *hostEvents) renamed(from []heardDir, fromName string, to []heardDir, toName string, typ uint32) {
	both := map[*connection]bool{}
	for _, f := range from {
		for _, t := range to {
			if f.c != t.c || both[f.c] || !e.shows(f, fromName) || !e.shows(t, toName) || e.fixed(f, fromName) || e.fixed(t, toName) {
				continue
			}
			if verdictAt(f.c, f.n, fromName).Masked || verdictAt(t.c, t.n, toName).Masked {
				continue // its stand-ins are those of a name
			}
			both[f.c] = true
			e.do(f, HostEvent{Op: HostRename, Name: fromName, ToName: toName, Mode: typ}, t.n)
		}
	}
	for _, f := range from {
		if !both[f.c] {
			e.happened(f, fromName, unix.FAN_DELETE, typ)
		}
	}
	for _, t := range to {
		if !both[t.c] {
			e.happened(t, toName, unix.FAN_CREATE|unix.FAN_MODIFY|unix.FAN_CLOSE_WRITE, typ)
		}
	}
}

// shows reports whether programs in the view may know of a name.
func (e *hostEvents) shows(d heardDir, name string) bool {
	place, err := d.c.tab.place(d.n)
	if err != nil || !plainName(name) {
		return false
	}
	v := d.c.rules().VerdictIn(place, name)
	if d.c.ReadOnly && v.AskRead {
		return false // a look-up of it is refused, and would be told as a refusal
	}
	if v.TraverseOnly {
		typ, _ := e.typeAt(d, name)
		return !v.Hidden && typ == unix.S_IFDIR
	}
	return !v.Hidden
}

// typeAt is the type of what stands at a name now.
func (e *hostEvents) typeAt(d heardDir, name string) (mode uint32, ok bool) {
	place, err := d.c.tab.place(d.n)
	if err != nil {
		place = d.place
	}
	if name != "" {
		place = joinPlace(place, name)
	}
	fd, err := d.c.rules().OpenPlace(place, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return 0, false
	}
	defer closeFD(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return 0, false
	}
	return st.Mode & unix.S_IFMT, true
}

// fixed reports whether a name leads to another mount. It stays what it is.
func (e *hostEvents) fixed(d heardDir, name string) bool {
	n := d.c.tab.child(d.n, name)
	return n != nil && n.fixed.Load()
}

// mountOn is the mount of a single file at a name.
func (e *hostEvents) mountOn(d heardDir, name string) *connection {
	place, err := d.c.tab.place(d.n)
	if err != nil || name == "" || !e.fixed(d, name) {
		return nil
	}
	for _, c := range e.v.layout.all() {
		if c.File && c.started.Load() && c.Place == joinPlace(place, name) {
			return c
		}
	}
	return nil
}

// repeats is how often a repetition is tried where the kernel knew better already.
const repeats = 3

// do repeats one event, to a directory to for a rename.
func (e *hostEvents) do(d heardDir, what HostEvent, to *node) {
	what.Mount = slices.Index(e.v.layout.all(), d.c)
	var ok bool
	if what.Dir, ok = relativeTo(d.c, d.n); !ok {
		if what.Name != "" {
			return // nobody watches it
		}
		what.Dir = relative(d.c, d.place)
	}
	if to != nil {
		if what.ToDir, ok = relativeTo(d.c, to); !ok {
			return
		}
	}
	for range repeats {
		r := &repetition{HostEvent: what, c: d.c, dir: d.n, to: to}
		e.now.Store(r)
		err := e.repeat(what)
		e.now.Store(nil)
		if r.reached.Load() || what.Op == HostClose && err == nil {
			return
		}
		// Somebody inside looked the name up after the host's change and before this: the
		// kernel has the name as it is, or as missing, already.
		switch what.Op {
		case HostCreate, HostDelete:
			d.c.conn.ForgetName(d.n.id, what.Name)
		case HostRename:
			d.c.conn.ForgetName(d.n.id, what.Name)
			d.c.conn.ForgetName(to.id, what.ToName)
		default:
			return
		}
	}
}

// relativeTo is where a node is beneath the root of its mount.
func relativeTo(c *connection, n *node) (string, bool) {
	place, err := c.tab.place(n)
	if err != nil {
		return "", false
	}
	return relative(c, place), true
}

func relative(c *connection, place string) string {
	switch {
	case place == c.Place:
		return "."
	case c.Place == ".":
		return place
	}
	return place[len(c.Place)+1:]
}

// verdictAt is what the rules say of a name in a directory.
func verdictAt(c *connection, dir *node, name string) resolved.Verdict {
	place, err := c.tab.place(dir)
	if err != nil {
		return resolved.Verdict{}
	}
	return c.rules().VerdictIn(place, name)
}
