package sandboxfs

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// connection has the operations of one FUSE connection. It is the Handler of a
// fuseconn.Conn; its operations lie in the files named after them.
//
// Locks, in this order: moves, then one of table.mu, opens.mu, lockTable.mu,
// unlinked.mu, dirs.mu, lockedDirs.mu or watcher.mu. Only moves is held while the tree
// is walked; opens.mu, lockTable.mu, unlinked.mu, lockedDirs.mu and watcher.mu are held
// during system calls on descriptors that are open. Names are asked for in table.mu
// while opens.mu or lockTable.mu is held.
type connection struct {
	Mount
	fuse.RawFileSystem // answers what is not implemented with ENOSYS
	v                  *View
	tab                *table
	opens              opens
	unlinked           unlinked
	stamps             stamps
	dirs               dirCache
	listings           listings
	long               longLists
	lockedDirs         lockedDirs
	watch              *watcher // of the read-only mount, nil otherwise
	conn               *fuseconn.Conn
	started            atomic.Bool // conn is set

	// moves keeps names from changing: an operation on a place holds it shared
	// from building the place until the system call has returned; a rename holds
	// it exclusively until the table knows of it too.
	moves sync.RWMutex

	rootDev  uint32 // device of the root of the tree, whose inode numbers stay as they are
	stacked  bool   // the tree lies on an overlayfs
	self     IDs    // whom new files belong to without doing anything
	umask    uint32
	begun    time.Time
	requests atomic.Uint64

	passthrough atomic.Bool // the kernel reads and writes open files by itself
	mountedHere bool        // by this process: the kernel's process numbers are its own
}

var _ fuseconn.Handler = (*connection)(nil)

func newConnection(v *View, what Mount, layout []Mount) (*connection, error) {
	typ := uint16(unix.S_IFDIR)
	if what.File {
		typ = unix.S_IFREG
	}
	c := &connection{
		Mount:         what,
		RawFileSystem: fuse.NewDefaultRawFileSystem(),
		v:             v,
		tab:           newTable(what.Place, typ),
		self:          IDs{UID: uint32(unix.Geteuid()), GID: uint32(unix.Getegid())},
		umask:         processUmask(),
		begun:         time.Now(),
	}
	c.opens.init(&v.locks)
	c.unlinked.fd, c.stamps.last = map[*node]int{}, map[*node]stamp{}
	c.tab.freed = c.forgotten
	for _, other := range layout {
		if other.Place != what.Place && within(other.Place, what.Place) {
			c.tab.fix(namesBetween(what.Place, other.Place), other.File)
		}
	}
	if err := c.examineRoot(); err != nil {
		return nil, err
	}
	if what.ReadOnly {
		c.watch = newWatcher(c)
	}
	return c, nil
}

// rules are those that hold now. They stay the same while moves is held.
func (c *connection) rules() resolver { return c.v.rules() }

// examineRoot asks once for what holds of the whole tree.
func (c *connection) examineRoot() error {
	fd, err := c.rules().OpenPlace(".", unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	var sx unix.Statx_t
	if err := fsat.Statx(fd, "", unix.AT_EMPTY_PATH, statxMask, &sx); err != nil {
		return err
	}
	c.rootDev = deviceOf(&sx)
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err == nil {
		c.stacked = fs.Type == unix.OVERLAYFS_SUPER_MAGIC
	}
	return nil
}

// String is go-fuse's name of the file system.
func (c *connection) String() string { return fsName }

// start comes before the first request.
func (c *connection) start(conn *fuseconn.Conn) {
	c.conn = conn
	c.probePassthrough()
	if c.watch != nil {
		c.watch.start()
	}
	c.started.Store(true)
	if e := c.v.events.Load(); e != nil { // it was added since
		e.watchAll(c)
	}
}

// close frees what a connection that has ended may have left open.
func (c *connection) close() {
	if c.watch != nil {
		c.watch.close()
	}
	c.opens.closeAll()
	c.unlinked.closeAll()
	c.dirs.closeAll()
	c.lockedDirs.close()
}

// For how long, at most, the kernel may trust what it was told about ...
const (
	validWatched = 10 * time.Second          // a directory whose changes are notified
	validPlain   = time.Second - dirCacheFor // everything else
)

func (c *connection) valid(watched bool) time.Duration {
	if watched && c.ReadOnly {
		return validWatched
	}
	return validPlain
}

func (c *connection) serverOptions() *fuse.MountOptions {
	o := &fuse.MountOptions{
		Logger:               c.v.o.Logger,
		MaxWrite:             fuseconn.MaxData,
		MaxBackground:        64,
		EnableSymlinkCaching: true,
		MaxStackDepth:        1,
		// Where others than root come in the kernel has to look at the
		// access lists of the host, which costs a request a file.
		EnableAcl: c.v.o.DefaultPermissions && (c.v.o.AllowOther || c.v.o.Owner.UID != 0),
	}
	if c.ReadOnly {
		o.ExtraCapabilities = fuse.CAP_NO_OPENDIR_SUPPORT
		o.DisabledCapabilities = fuse.CAP_PASSTHROUGH
		return o
	}
	if c.stacked {
		o.MaxStackDepth = 2
	}
	o.EnableLocks = true
	o.DisabledCapabilities = fuse.CAP_NO_OPEN_SUPPORT | fuse.CAP_NO_OPENDIR_SUPPORT
	if !c.v.o.Passthrough {
		o.DisabledCapabilities |= fuse.CAP_PASSTHROUGH
	}
	o.ExtraCapabilities = fuse.CAP_ATOMIC_O_TRUNC | fuse.CAP_HANDLE_KILLPRIV_V2
	return o
}

func (c *connection) addStats(s *Stats) {
	s.Requests += c.requests.Load()
	s.Nodes += c.tab.size()
	handles, backing := c.opens.count()
	s.Handles += handles
	s.Backing += backing
	if c.watch != nil {
		watches, sent := c.watch.count()
		s.Watches += watches
		s.Notified += sent
	}
}

// slow is said before what may take long. c.moves is not held.
func (c *connection) slow(h *fuse.InHeader) { c.conn.Slow(h) }

// wantOpenFiles is how many descriptors a serving process should be able to
// hold: a file that is open in a write mount costs one.
const wantOpenFiles = 1 << 16

// raiseOpenFiles raises RLIMIT_NOFILE as far as this process may, where it is low. It
// changes the whole process, once. A view works with less (descriptors).
//
// The Go runtime has raised the soft limit before, and gives programs that it starts
// the original one as long as nobody else changes the limit: select(2) fails in
// programs that trust a small one. So it is left alone where it is high enough.
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
