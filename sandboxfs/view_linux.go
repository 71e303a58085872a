package sandboxfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// View is a resolver's tree as one or more FUSE connections. Its methods are
// safe for concurrent use, but Mount, Unmount and Close are meant for one
// owner.
type View struct {
	held     atomic.Pointer[heldRules] // replaced by Hide and Allow
	narrowed atomic.Bool               // by Hide: what the kernel knows may be hidden now
	o        Options
	layout   layout
	locks    lockTable
	masks    masks
	refusals *refusals
	asks     *asks                      // nil without Options.Ask
	events   atomic.Pointer[hostEvents] // nil: programs inside do not hear of the host's changes

	server  *fuseconn.Server
	within  func(f func()) // runs f on a thread with the rights that a view has
	serving sync.WaitGroup

	changing sync.Mutex // held during Hide and Allow

	mu      sync.Mutex // guards what follows
	mounted []mounted  // by Mount, in mount order
	closed  bool
}

// resolver is what a view asks of a pathresolver.Resolver: its exported methods, and
// those that are kept for holders of places (package resolved). What each promises
// stands at the method of the same name in pathresolver.
type resolver interface {
	Root() string
	WritePaths() []string

	Decide(op access.Op, place string, kind fs.FileMode) *pathresolver.DeniedError
	DecideGranted(g pathresolver.Grant, op access.Op, place string, kind fs.FileMode) *pathresolver.DeniedError
	DecideRenameGranted(g pathresolver.Grant, from, to string, exchange bool) *pathresolver.DeniedError
	DecideLinkGranted(g pathresolver.Grant, from, to string) *pathresolver.DeniedError
	DecideLook(place string) *pathresolver.DeniedError
	Verdict(place string) resolved.Verdict
	VerdictIn(parent, name string) resolved.Verdict
	HidesName(place string) bool
	AskPlaces() []resolved.AskPlace
	AsksRead() bool
	MasksAny() bool

	OpenPlace(place string, flags int, mode uint32) (int, error)
	BreakLinks(place string) error
	CheckLinks(place string, f resolved.FileID) (breakIt bool, denied *pathresolver.DeniedError)
	HasLinkNotes() bool
	NoteLink(before resolved.FileID)
	NoteUnlink(before resolved.FileID)
	NoteMade(place string, kind fs.FileMode, f resolved.FileID)

	DecideArrival(from, to string, a resolved.Arrival) *pathresolver.DeniedError
	MoveChecked(dir int, name string, toDir int, toName, to string, noReplace bool) error
	SameGitConfig(dir int, name, from string, toDir int, toName, to string) bool
	GitContent(place string) resolved.GitContent
	CheckGitText(place string, data []byte) *pathresolver.DeniedError
	GitHook(place string) bool
	GitLock(place string) bool
	GitConfigLock(place string) bool
	CheckGitLock(place string, f resolved.FileID) *pathresolver.DeniedError
	IsGitLockName(name string) bool
	GitTriesLink(place, target string) bool

	Changed(c resolved.Change) (*pathresolver.Resolver, []pathresolver.Violation, error)
}

// heldRules are the rules of a view, as it asks them and as others do.
type heldRules struct {
	resolver
	r *pathresolver.Resolver
}

// rules are those that hold now.
func (v *View) rules() resolver { return v.held.Load().resolver }

// layout has the connections of a view, in the order in which they are mounted. There
// may come more, at the end.
type layout struct {
	mu   sync.RWMutex
	list []*connection
}

func (l *layout) all() []*connection {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.list[:len(l.list):len(l.list)]
}

func (l *layout) at(i int) *connection { return l.all()[i] }

// add returns the number of the new one.
func (l *layout) add(c *connection) (i int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, c)
	return len(l.list) - 1
}

// dropLast undoes add.
func (l *layout) dropLast() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.Clone(l.list[:len(l.list)-1]) // the rest of what all has returned stays
}

// mounts are what the connections show.
func (l *layout) mounts() []Mount {
	var list []Mount
	for _, c := range l.all() {
		list = append(list, c.Mount)
	}
	return list
}

// New arranges a view of r. Nothing is mounted or served yet. r must stay
// open until the view is closed.
func New(r *pathresolver.Resolver, o Options) (*View, error) {
	if r == nil {
		return nil, errors.New("a view needs a resolver")
	}
	if o.Logger == nil {
		o.Logger = log.New(io.Discard, "", 0)
	}
	if o.Unprivileged && (o.DefaultPermissions || o.AllowOther) {
		return nil, errors.New("option Unprivileged excludes DefaultPermissions and AllowOther")
	}
	if me := unix.Geteuid(); o.Unprivileged && int(o.Owner.UID) != me {
		return nil, fmt.Errorf("option Unprivileged gives the rights of user %d, who must be the Owner, not user %d", me, o.Owner.UID)
	}
	if o.Unprivileged {
		if err := tryWithoutRights(); err != nil {
			return nil, fmt.Errorf("option Unprivileged: %w", err)
		}
	}
	rules, ok := resolved.Of(r).(resolver)
	if !ok {
		return nil, errors.New("a view needs a resolver over descriptors: this program was built with the tag portable")
	}
	raiseOpenFiles()
	v := &View{o: o, refusals: newRefusals(o.OnRefusal), asks: newAsks(&o), within: func(f func()) { f() }}
	v.held.Store(&heldRules{viewRules{rules}, r})
	v.locks.init()
	v.masks.init()
	if o.Unprivileged {
		v.within = func(f func()) { withoutRights(o.Logger, f) }
	}
	v.server = fuseconn.NewServer(func(loop func()) { v.within(loop) })
	plan := arrange(rules.WritePaths(), rules.AskPlaces(), o.SingleConnection || o.ReportAll, o.ReportAll, v.kindAt)
	for _, p := range plan {
		built, err := newConnection(v, p, plan)
		if err != nil {
			return nil, errors.Join(err, v.Close())
		}
		v.layout.add(built)
	}
	return v, nil
}

// kindAt looks at what stands at a place now.
func (v *View) kindAt(place string) kind {
	fd, err := v.rules().OpenPlace(place, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return kindMissing
	}
	defer closeFD(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return kindMissing
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return kindDir
	case unix.S_IFREG:
		return kindFile
	}
	return kindMissing
}

// Mounts lists the connections in the order in which they are to be mounted,
// each at its place beneath the mount point of the first, whose place is ".".
func (v *View) Mounts() []Mount { return v.layout.mounts() }

// Wait returns when no connection is served any more.
func (v *View) Wait() { v.serving.Wait() }

// Close unmounts what Mount mounted, waits for the connections to end, and
// frees everything. A connection that somebody else mounted ends when its
// last mount goes; one that does not go within a bound is reported.
func (v *View) Close() error {
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		return nil
	}
	v.closed = true
	_, err := v.unmount(unix.MNT_FORCE) // which ends a connection in use
	v.mu.Unlock()
	if err == nil {
		err = v.waitGone()
	}
	v.mu.Lock()
	for _, m := range v.mounted {
		if m.control >= 0 {
			closeFD(m.control)
		}
	}
	v.mu.Unlock()
	if e := v.events.Load(); e != nil {
		e.close()
	}
	for _, p := range v.layout.all() {
		p.close()
	}
	v.masks.closeAll()
	v.asks.close()
	v.refusals.close()
	return err
}

// Arrangement says in one line how the view is served.
func (v *View) Arrangement() string {
	data := "data through the server"
	if v.o.Passthrough {
		data = "passthrough"
		for _, p := range v.layout.all() {
			if p.conn != nil && !p.ReadOnly && !p.File && !p.passes() {
				data = "passthrough unavailable"
			}
		}
	}
	all := v.layout.all()
	switch {
	case len(all) == 1 && all[0].ReadOnly:
		return "read-only (stateless)"
	case len(all) == 1:
		return fmt.Sprintf("one connection (%s)", data)
	}
	noun := "mount"
	if len(all) > 2 {
		noun += "s"
	}
	return fmt.Sprintf("split: read-only root (stateless) + %d write %s (%s)", len(all)-1, noun, data)
}

// Stats adds up the counts of all mounts.
func (v *View) Stats() Stats {
	var s Stats
	for _, p := range v.layout.all() {
		p.addStats(&s)
	}
	s.RefusalsDropped = v.refusals.dropped.Load()
	if e := v.events.Load(); e != nil {
		s.Unheard = e.incomplete()
	}
	if v.asks != nil {
		s.Waiting, s.AsksDropped = int(v.asks.waiting.Load()), v.asks.dropped.Load()
	}
	return s
}

// String names the mounts, for messages.
func (v *View) String() string {
	var places []string
	for _, p := range v.layout.all() {
		places = append(places, p.Place)
	}
	return "pinfold view of " + v.rules().Root() + " (" + strings.Join(places, ", ") + ")"
}

func closeFD(fd int) { _ = unix.Close(fd) }
