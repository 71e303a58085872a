package sandboxfs

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Resolver is what holds the view's rules now: the resolver that New was given, until
// Hide or Allow has changed them. What is opened by it is closed with that one.
func (v *View) Resolver() *pathresolver.Resolver { return v.held.Load().r }

// Hide hides what the globs match, as pathresolver.Config.Hide does, in a view that is
// in use. origin says in messages where that was said. When it returns no name leads
// there any more, and what is open there is ESTALE; pages of it that are mapped into memory
// are gone (SIGBUS). A read or a copy that had begun may still end. A file that was removed
// while it was open has no place any more, and is not hidden.
//
// The exception are files whose data the kernel moves by itself (Options.Passthrough):
// who has one open, or mapped, keeps it. left are the places of those that are open; one
// that is only mapped is not known.
//
// The error is a *pathresolver.ConfigError, and nothing has changed: a glob cannot be
// read, or would hide a write path as a whole.
func (v *View) Hide(origin string, globs ...string) (left []string, err error) {
	v.changing.Lock()
	defer v.changing.Unlock()
	next, _, err := v.rules().Changed(resolved.Change{Hide: globs, Origin: origin})
	if err != nil {
		return nil, err
	}
	v.narrowed.Store(true)
	v.replace(next)
	for _, c := range v.layout.all() {
		left = append(left, c.forgetHidden()...)
	}
	slices.Sort(left)
	return slices.Compact(left), nil
}

// Allow adds write paths to a view that is in use, as pathresolver.Config.WritePaths
// has them. origin says in messages where that was said. Where the kernel keeps the tree
// read-only, each becomes a mount of its own: mount is called for it, as for those that
// Mounts has named before, and returns once it is mounted and served. Such a path has to
// be there. A program that works in that directory already sees the mount when it has
// entered it again.
//
// After an error nothing more may be written than before. It is a
// *pathresolver.ConfigError where a path cannot be a write path.
func (v *View) Allow(origin string, mount func(i int) error, paths ...string) error {
	v.changing.Lock()
	defer v.changing.Unlock()
	next, _, err := v.rules().Changed(resolved.Change{Write: paths, Origin: origin})
	if err != nil {
		return err
	}
	for _, place := range next.WritePaths() {
		if over := v.over(place); over.ReadOnly {
			if err := v.addMount(over, place, mount); err != nil {
				return err
			}
		}
	}
	v.replace(next)
	return nil
}

// over is the connection that serves a place.
func (v *View) over(place string) (found *connection) {
	for _, c := range v.layout.all() {
		if within(place, c.Place) && (found == nil || len(c.Place) > len(found.Place) || found.Place == ".") {
			found = c
		}
	}
	return found
}

// addMount lays a connection that can be written over a place of one that cannot.
func (v *View) addMount(over *connection, place string, mount func(i int) error) error {
	kind := v.kindAt(place)
	switch {
	case over.conn == nil:
		return errors.New("the view is not mounted yet")
	case kind == kindMissing:
		return fmt.Errorf("%q is not there: make it first, as a directory or as a file", place)
	case place == ".":
		return errors.New("the whole of a view that is in use cannot become writable: name directories in it")
	}
	for _, c := range v.layout.all() {
		if c != over && within(c.Place, place) {
			return fmt.Errorf("%q holds the write path %q, which is in use: name what lies beside that", place, c.Place)
		}
	}
	what := Mount{Place: place, File: kind == kindFile}
	c, err := newConnection(v, what, v.layout.mounts())
	if err != nil {
		return err
	}
	for _, name := range over.tab.fix(namesBetween(over.Place, place), what.File) {
		over.conn.ForgetName(name.dir.id, name.name) // it may be known as missing
	}
	i := v.layout.add(c)
	if err := mount(i); err != nil {
		if c.conn == nil { // what is served stays: it is there, and later changes count for it
			v.layout.dropLast()
			c.close()
		}
		return fmt.Errorf("mount %q: %w", place, err)
	}
	return nil
}

// replace has the rules of next hold from now on. Operations that were decided under
// those before have ended.
func (v *View) replace(next *pathresolver.Resolver) {
	all := v.layout.all()
	for _, c := range all {
		c.moves.Lock()
	}
	v.held.Store(&heldRules{viewRules{resolved.Of(next).(resolver)}, next})
	for _, c := range all {
		c.moves.Unlock()
	}
}

// hiddenSince reports whether the rules hide what the kernel has a node of: it was told
// of it before they did. One of several names that can be seen is enough.
func (c *connection) hiddenSince(n *node) bool {
	if !c.v.narrowed.Load() {
		return false
	}
	rules, places := c.rules(), c.tab.places(n)
	return len(places) > 0 && !slices.ContainsFunc(places, func(place string) bool { return !rules.Verdict(place).Hidden })
}

// opened is an open handle of what may still be seen.
func (c *connection) opened(id uint64) (*handle, error) {
	h, err := c.opens.get(id)
	if err == nil && c.hiddenSince(h.node) {
		err = unix.ESTALE
	}
	return h, err
}

// forgetHidden has the kernel forget what it knows of what is hidden now. It returns
// the places of files that it goes on to read and write by itself. No lock is held: the
// kernel waits for requests that are under way, whose answers it would otherwise keep.
// All names are looked at. To have the kernel doubt all of them at once
// (FUSE_NOTIFY_INC_EPOCH) would be quicker, but detaches what is mounted beneath them.
func (c *connection) forgetHidden() (left []string) {
	if c.conn == nil {
		return nil
	}
	hidden := c.hiddenNames()
	for name, n := range hidden {
		if !c.hiddenSince(n) { // it has another name
			c.tab.removed(name.dir, name.name)
		}
		c.conn.ForgetName(name.dir.id, name.name)
	}
	for _, n := range hidden {
		if !c.hiddenSince(n) {
			continue
		}
		c.stamps.forget(n)
		c.conn.ForgetInode(n.id)
		if place, err := c.tab.place(n); err == nil && c.opens.passedThrough(n) {
			left = append(left, place)
		}
	}
	for _, n := range c.tab.all() {
		if n.typ == unix.S_IFDIR { // whose names the kernel may have listed
			c.conn.ForgetInode(n.id)
		}
	}
	return left
}

// hiddenNames are the names that are hidden now, each with its node. A place is put
// together once for each directory.
func (c *connection) hiddenNames() map[nameKey]*node {
	type known struct {
		place  string
		hidden bool
	}
	rules, dirs := c.rules(), map[*node]known{}
	var look func(dir *node) known
	below := func(dir *node, name string) known {
		k := look(dir)
		place := joinPlace(k.place, name)
		return known{place, k.hidden || rules.HidesName(place)}
	}
	look = func(dir *node) known {
		k, ok := dirs[dir]
		if !ok {
			if parent, name := c.tab.nameOf(dir); parent != nil {
				k = below(parent, name)
			} else {
				k = known{place: c.Place}
			}
			dirs[dir] = k
		}
		return k
	}
	hidden := c.tab.named()
	maps.DeleteFunc(hidden, func(name nameKey, _ *node) bool { return !below(name.dir, name.name).hidden })
	return hidden
}
