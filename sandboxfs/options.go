package sandboxfs

import (
	"context"
	"io/fs"
	"log"
	"syscall"
	"time"

	"github.com/pinfold-dev/pinfold/access"
)

// Options say how a view is served, not what it allows: that is the
// resolver's policy. The zero value is the arrangement for an ordinary user.
type Options struct {
	// Passthrough lets the kernel read and write the files of write mounts
	// without asking the server. It needs root in the initial user namespace;
	// where it does not work the data goes through the server.
	Passthrough bool

	// DefaultPermissions has the kernel check owner and mode of the files, as
	// a server that runs as root for other users needs. Without it the server's
	// own rights are what counts.
	DefaultPermissions bool

	// Unprivileged has requests answered without the capabilities that override file
	// permissions, and without supplementary groups. It is for a server that runs as
	// root and serves programs of root's that have neither: they get what they would
	// have without a view, as the host's own file system decides. It replaces
	// DefaultPermissions and excludes AllowOther; Owner must be the server's own user.
	Unprivileged bool

	// SquashIDs, if set, are reported as the owner of every file. Identifiers
	// that are not mapped in the mounter's user namespace give EOVERFLOW.
	SquashIDs *IDs

	// Owner is the user to whom the mount belongs, as seen in the mounter's user
	// namespace. Without AllowOther nobody else may look inside.
	Owner IDs

	// AllowOther lets every user look inside the mount, not only Owner.
	AllowOther bool

	// SingleConnection serves the whole view with one connection. That is slower, but
	// the only way to mount with fusermount3.
	SingleConnection bool

	// ReportAll has every refusal reach OnRefusal. Otherwise the kernel refuses
	// writes outside the write mounts itself, without telling. It implies
	// SingleConnection.
	ReportAll bool

	// OnRefusal is called for each refusal, by one goroutine, in order. It may
	// be slow: a bounded queue stands before it, and what does not fit is
	// dropped and counted in Stats.
	OnRefusal func(Refusal)

	// OnChange is called for each Change, before the program learns that it was made.
	// Requests wait for it and several goroutines call it, so it must be quick and
	// safe for concurrent use, and must not use the view.
	OnChange func(Change)

	// Ask, if set, is asked about operations that a rule says may be asked for.
	// Without it they are EACCES.
	Ask Asker

	// AskWait bounds how long the open of an existing file waits for an answer: 0
	// means not at all, a negative time without end.
	AskWait time.Duration

	// Unmounter, if set, unmounts in the place of this process, which may have given
	// up the right to, what Mount has mounted at path. If it is in use it is detached
	// and lazily is true; with force the connection is ended, too.
	Unmounter func(path string, force bool) (lazily bool, err error)

	// Logger gets what goes wrong inside the server. Nil discards it.
	Logger *log.Logger
}

// IDs are a user and a group.
type IDs struct{ UID, GID uint32 }

// Refusal is one operation that a rule refused.
type Refusal struct {
	Time    time.Time
	PID     uint32 // as seen where the connection was mounted
	UID     uint32
	Program string // its name (comm), which it can choose itself; "" if unknown
	Op      access.Op
	Place   string
	Rule    access.Code
	Pattern string        // the glob or write path that decided, if one did
	Origin  string        // where that was written, if the resolver's Config says so
	Errno   syscall.Errno // what the caller got
	Syscall string        // the FUSE operation: "open", "mkdir", "setattr", ...
	Answer  string        // what Options.Ask said, if it was asked
}

// Mount is one FUSE connection of a view, to be mounted at Place beneath the
// mount point of the view.
type Mount struct {
	Place    string
	ReadOnly bool
	File     bool // the place is a regular file, and so is the mount point
}

// Stats are counts for tests, benchmarks and the doctor.
type Stats struct {
	Requests        uint64 // requests that named a node, since the start
	Nodes           int    // files and directories that the kernel remembers
	Handles         int    // open files of write mounts
	Backing         int    // files that the kernel reads and writes by itself
	Watches         int    // directories that are watched for changes on the host
	Notified        uint64 // invalidations sent to the kernel
	Unheard         bool   // WatchHost may have missed something
	RefusalsDropped uint64 // refusals that OnRefusal was too slow for
	Waiting         int    // opens that wait for an answer
	AsksDropped     uint64 // refused operations that were not recorded
}

// Asker answers for operations that a rule says may be asked for
// (pathresolver.RuleAsk). What it allows is done once, and only where nothing else
// stands in the way. Its methods are safe for use by many goroutines, and never touch
// the view that they answer for.
type Asker interface {
	// Ask decides about one operation; nil allows it. If q.Wait is set it waits for an
	// answer as long as ctx lasts, otherwise it answers at once. The text of an error
	// becomes Refusal.Answer. When ctx is done the operation has been refused already;
	// the request that was made stays.
	Ask(ctx context.Context, q AskRequest) error

	// Record makes a request for an operation that was refused, and uses up no grant.
	// It is called by one goroutine. When a program tries the same operation again,
	// that is put to Ask.
	Record(ctx context.Context, q AskRequest) error

	// Granted reports whether a may have been granted. It answers at once: from
	// memory, brought up to date with what has changed since the last call. If it says
	// so, an operation that cannot wait is put to Ask at the first try, and access(2)
	// succeeds. It allows nothing by itself.
	Granted(a access.Access) bool
}

// AskRequest is one operation of a program in the view that has to be granted.
type AskRequest struct {
	Accesses []access.Access // the first is what it is about; at least one
	Wait     bool            // an open that can wait for somebody's answer
	Syscall  string          // the FUSE operation, as in Refusal
	PID      uint32          // as seen where the connection was mounted
	UID      uint32
	Program  string // its name (comm), which it can choose itself; "" if unknown
}

// Change is something that a program did through a view, as Options.OnChange is told.
// Removals are not told.
type Change struct {
	// Op is OpCreate for a new file, directory, link, FIFO or socket, OpWrite for
	// a file that was opened to be written or was cut, OpMeta for one whose mode
	// was changed, OpRename, and OpLink for another name.
	Op    access.Op
	Place string
	// To is the new name, of OpRename and OpLink.
	To string
	// Exchange is set for an OpRename after which what was at To is at Place.
	Exchange bool
	// Mode is its type and permissions afterwards. Of OpRename it is the type
	// alone, and fs.ModeIrregular where that is not known.
	Mode fs.FileMode
}
