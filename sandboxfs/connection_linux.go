package sandboxfs

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// part serves one connection. Its methods that go-fuse calls lie in the files
// named after the operations.
//
// Locks, in this order: moves, then one of table.mu, opens.mu, lockTable.mu,
// graves.mu, recent.mu or watcher.mu. Only moves is held while the tree is
// walked; opens.mu, lockTable.mu, graves.mu and watcher.mu are held during
// system calls on descriptors that are open.
type part struct {
	Part
	fuse.RawFileSystem // answers what is not implemented with ENOSYS
	v                  *View
	r                  *pathresolver.Resolver
	tab                *table
	opens              opens
	graves             graves
	stamps             stamps
	recent             recent
	questions          questions
	listings           listings
	watch              *watcher // of the read-only part, nil otherwise
	conn               *fuseconn.Conn

	// moves keeps names still: who acts on a place holds it shared from
	// building the place until the kernel has answered; a rename holds it
	// alone until the table knows of it too.
	moves sync.RWMutex

	rootDev  uint32 // device of the root of the tree, whose inode numbers stay as they are
	stacked  bool   // the tree lies on an overlayfs
	self     IDs    // whom new files belong to without doing anything
	umask    uint32
	begun    time.Time
	requests atomic.Uint64

	passthrough atomic.Bool // the kernel reads and writes open files by itself
}

var _ fuseconn.Handler = (*part)(nil)

func newPart(v *View, what Part, layout []Part) (*part, error) {
	typ := uint16(unix.S_IFDIR)
	if what.File {
		typ = unix.S_IFREG
	}
	p := &part{
		Part:          what,
		RawFileSystem: fuse.NewDefaultRawFileSystem(),
		v:             v,
		r:             v.r,
		tab:           newTable(what.Place, typ),
		self:          IDs{UID: uint32(unix.Geteuid()), GID: uint32(unix.Getegid())},
		umask:         processUmask(),
		begun:         time.Now(),
	}
	p.opens.init()
	p.graves.fd, p.stamps.last = map[*node]int{}, map[*node]stamp{}
	p.tab.freed = p.forgotten
	for _, other := range layout {
		if other.Place != what.Place && within(other.Place, what.Place) {
			p.tab.fix(namesBetween(what.Place, other.Place), other.File)
		}
	}
	if err := p.examineRoot(); err != nil {
		return nil, err
	}
	if what.ReadOnly {
		p.watch = newWatcher(p)
	}
	return p, nil
}

// examineRoot asks once for what holds of the whole tree.
func (p *part) examineRoot() error {
	fd, err := p.r.OpenPlace(".", unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	var sx unix.Statx_t
	if err := fsat.Statx(fd, "", unix.AT_EMPTY_PATH, statxMask, &sx); err != nil {
		return err
	}
	p.rootDev = deviceOf(&sx)
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err == nil {
		p.stacked = fs.Type == unix.OVERLAYFS_SUPER_MAGIC
	}
	return nil
}

// String is go-fuse's name of the file system.
func (p *part) String() string { return fsName }

// start comes before the first request.
func (p *part) start(c *fuseconn.Conn) {
	p.conn = c
	p.probePassthrough()
	if p.watch != nil {
		p.watch.start()
	}
}

// close frees what a connection that has ended may have left open.
func (p *part) close() {
	if p.watch != nil {
		p.watch.close()
	}
	p.opens.closeAll()
	p.graves.closeAll()
	p.recent.closeAll()
}

// how long the kernel may trust what it was told, at most, about ...
const (
	validWatched = 10 * time.Second        // a directory whose changes are notified
	validPlain   = time.Second - recentFor // everything else
)

func (p *part) valid(watched bool) time.Duration {
	if watched && p.ReadOnly {
		return validWatched
	}
	return validPlain
}

func (p *part) serverOptions() *fuse.MountOptions {
	o := &fuse.MountOptions{
		Logger:               p.v.o.Logger,
		MaxWrite:             fuseconn.MaxData,
		MaxBackground:        64,
		EnableSymlinkCaching: true,
		MaxStackDepth:        1,
		// Where somebody else than root comes in the kernel has to look at the
		// access lists of the host, which costs a request a file.
		EnableAcl: p.v.o.DefaultPermissions && (p.v.o.AllowOther || p.v.o.Owner.UID != 0),
	}
	if p.ReadOnly {
		o.ExtraCapabilities = fuse.CAP_NO_OPENDIR_SUPPORT
		o.DisabledCapabilities = fuse.CAP_PASSTHROUGH
		return o
	}
	if p.stacked {
		o.MaxStackDepth = 2
	}
	o.EnableLocks = true
	o.DisabledCapabilities = fuse.CAP_NO_OPEN_SUPPORT | fuse.CAP_NO_OPENDIR_SUPPORT
	if !p.v.o.Passthrough {
		o.DisabledCapabilities |= fuse.CAP_PASSTHROUGH
	}
	o.ExtraCapabilities = fuse.CAP_ATOMIC_O_TRUNC | fuse.CAP_HANDLE_KILLPRIV_V2
	return o
}

func (p *part) addStats(s *Stats) {
	s.Requests += p.requests.Load()
	s.Nodes += p.tab.size()
	handles, backing := p.opens.count()
	s.Handles += handles
	s.Backing += backing
	if p.watch != nil {
		watches, sent := p.watch.count()
		s.Watches += watches
		s.Notified += sent
	}
}

// slow is said before what may take long. p.moves is not held.
func (p *part) slow(h *fuse.InHeader) { p.conn.Slow(h) }

// wantOpenFiles is how many descriptors a serving process should be able to
// hold: a file that is open in a write part costs one.
const wantOpenFiles = 1 << 16

// raiseOpenFiles raises RLIMIT_NOFILE as far as this process may, where it is
// low. It changes the process, once. A view works with less: an open beyond it
// is EMFILE for the caller.
//
// The Go runtime has raised the soft limit before, and gives what is started
// the first one, as long as nobody else changes it: select(2) fails in
// programs that trust a small limit. So it is left alone where it is enough.
var raiseOpenFiles = sync.OnceFunc(func() {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil || now.Cur >= wantOpenFiles {
		return
	}
	high := unix.Rlimit{Cur: wantOpenFiles, Max: max(now.Max, wantOpenFiles)}
	// Setrlimit would have the runtime forget the first limit even on failure.
	if unix.Prlimit(0, unix.RLIMIT_NOFILE, &high, nil) != nil && now.Cur+1 < now.Max {
		_ = unix.Prlimit(0, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: now.Max, Max: now.Max}, nil)
	}
})
