package launcher

import (
	"os"
	"syscall"
	"time"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// View is what the launcher needs of a view: *sandboxfs.View.
type View interface {
	// Mounts lists the connections in mount order, parents first.
	Mounts() []sandboxfs.Mount
	// Resolver holds the rules that the view asks now.
	Resolver() *pathresolver.Resolver
	// MountArgs gives the arguments of mount(2) for mount i, whose /dev/fuse
	// is open as descriptor fuseFD in the process that mounts.
	MountArgs(i, fuseFD int) (source, fstype string, flags uintptr, data string)
	// Serve takes over the descriptor and returns once requests are answered.
	Serve(i, fuseFD int) error
	// WatchHost has programs inside hear by inotify(7) of what the host changes. repeat
	// does in mounts of the view what was done, on a thread of another process.
	WatchHost(thread uint32, repeat func(sandboxfs.HostEvent) error) error
}

var _ View = (*sandboxfs.View)(nil)

// Placed is a view and where it is shown.
type Placed struct {
	// View shows the tree. Each of its mounts can be written: what the kernel
	// refuses by itself in a read-only mount is told of the project's view only.
	// The caller closes it after Run.
	View View
	// Root is the tree's real absolute path, outside and inside.
	Root string
	// WritePaths are the places beneath Root that the command is told it may
	// write. They grant nothing: the view decides.
	WritePaths []string
}

// views are the project's and those beside it, in the order in which they are
// mounted. planStep.View counts them.
func (c *Config) views() []Placed {
	return append([]Placed{{View: c.View, Root: c.Root, WritePaths: c.WritePaths}}, c.Beside...)
}

// Layer is a directory of the host, such as a program's cache, that the command sees at
// its own path and may write, while what it writes lands in Dir: an overlay (overlayfs),
// whose lower layer is the host's directory. It needs Linux 5.11 and, for Dir, a file
// system with extended attributes of users, such as ext4, xfs or btrfs; without them
// the run is refused. Where the host has no such directory, Dir alone is shown.
type Layer struct {
	// Path is where the directory is outside and inside, absolute and clean. It lies
	// neither in a system directory nor in the project or a tree of Beside, and holds
	// none of them, nor the home.
	Path string
	// Own leaves out the host's directory: Dir alone is shown.
	Own bool
	// Dir holds the layer in its directories "upper" and "work", which exist. It is the
	// caller's, who sees to it that one run at a time uses it, and that it lies in
	// Private: the command reaches what is in it at Path alone.
	Dir string
}

// Config says what to run and what it may see. The zero value of every
// optional field is the safest choice.
type Config struct {
	// Resolver holds the policy. Root and WritePaths are taken from it.
	Resolver *pathresolver.Resolver
	// View shows the project. The caller closes it after Run.
	// To run as another user (User), it needs Options.AllowOther.
	View View

	// Beside are further trees, each shown by a view of its own at the path that
	// it has outside. None contains Root, and none lies beneath it.
	Beside []Placed

	// Root is the project's real absolute path; "" takes the resolver's.
	Root string
	// WritePaths are the places the command is told it may write; nil takes
	// the resolver's. They grant nothing: the view decides.
	WritePaths []string

	// Command is the program and its arguments. A name without a slash is
	// looked up in PATH inside.
	Command []string
	// Dir is the working directory inside; "" is Root.
	Dir string

	// RO are further host paths to show read-only, at their own real path.
	// They lie neither beneath Root nor in /proc, /sys or /dev. What they hold is
	// shown but for Private and the files of Credentials; naming one of these
	// files itself shows it, as does passing its variable on (Env). Naming a home
	// that lies in a system directory, which is covered otherwise, shows it.
	RO []string
	// Home is a directory to show, writable, in the place of the user's home:
	// at the path that HOME has outside, and has inside as well. (Where that
	// is a system directory or lies in the project it stands at its own path,
	// which HOME then names.) It neither contains Root nor lies beneath it.
	// What else is shown in the home (the project, RO) needs an empty
	// directory or file there to be mounted on, which is made and stays.
	// "" makes a private, empty, temporary home at that path.
	Home string
	// Layers are directories that the command may write without changing the host's:
	// see Layer. They hold for the caller's own user, so not together with User.
	Layers []Layer
	// Written are places of the host that earlier runs could write, real absolute
	// paths. A path of RO, of Layers, or Home, that a link in one of these leads out of it is
	// refused: the run that wrote there chose where. Home counts as one, too.
	Written []string
	// Private are directories and files of the host that are never seen inside,
	// whatever RO, Home or the system directories show: the caller's own state,
	// sockets and tokens. A directory that is missing is made, for this user
	// alone, where it would be seen once it is there. What holds for the project
	// is the view's to say.
	Private []string
	// KeptHomes is a directory of homes that are kept, "" for none. It is as Private,
	// but that Home may be one of them: no run sees what another one kept.
	KeptHomes string
	// User is the name or number of the user to run as, for root only.
	User string
	// Env are additions to the environment allowlist: KEY copies the
	// caller's value, KEY=VALUE sets one.
	Env []string
	// Secrets are further variables, by their names, whose values no message, plan or
	// report shows. CheckSecretName says which names there are; a value has no NUL.
	// One that Env sets too is refused.
	Secrets map[string]Secret
	// SecretFiles are files in SecretsDir, by their names, that only the command's user
	// can read, and nobody write.
	SecretFiles map[string]Secret
	// Self, if set, shows the running program inside as /run/pinfold/bin/Self
	// and adds that directory to the end of PATH, also of login shells that read
	// /etc/profile.
	Self string
	// Files are further read-only files, by absolute path inside. They lie
	// beneath /run.
	Files map[string][]byte
	// Sockets are unix sockets of the host to show, by absolute path inside,
	// beneath /run. The command can connect to these and to no other; what it
	// reaches through them is the caller's to think about. Shown is the socket that
	// lay there when the run began, whatever takes its place later. The paths outside
	// lead over no link: who chooses them decides where their names lead.
	Sockets map[string]string

	// Devices are character devices of the host to show beneath /dev, at their own real
	// paths, with the permissions that they have there: graphics, computing and sound,
	// /dev/kvm, cameras and serial lines. Others are refused, and so is a name that
	// leads out of /dev.
	Devices []string

	// Stdin, Stdout and Stderr are the command's streams; nil is /dev/null.
	// A directory is refused. Only bytes pass: the descriptors themselves are
	// never handed over.
	Stdin, Stdout, Stderr *os.File

	// OnRefusal, if set, is told of what the kernel refuses in the read-only
	// mounts of the view, which the view itself does not hear of. It needs
	// CanWatch. It is called by one goroutine, which has ended when Run
	// returns. What it is told is what the command was about to do, as far as
	// could be seen: a command that takes pains can keep an attempt from being
	// told, but not make it succeed.
	OnRefusal func(sandboxfs.Refusal)

	// OnStopped, if set, is told when the command was stopped and pinfold was
	// not, since no key of the operator's asked for it: with the signal, and
	// whether the operator's keys arrive, Ctrl-Z among them. It is called at most
	// maxStopNotices times, by the goroutine that follows the command, and
	// returns at once.
	OnStopped func(stop syscall.Signal, interactive bool)

	// Signals are further signals for the command, beside those that the
	// caller's process gets; nil is none. It is not closed while Run runs.
	Signals <-chan os.Signal

	// Pause, if set, lets the caller use the terminal in between.
	Pause *Pause

	// Control, if set, lets the caller act on the run.
	Control *Control

	// NoNetwork gives the command a network of its own with nothing in it, not
	// even a loopback device that is up.
	NoNetwork bool
	// Gateway, if set, gives it a network of its own with a way out, and a loopback
	// that is its own. NoNetwork counts more.
	Gateway *Gateway
	// WaitBackground waits for background processes after the command has
	// ended; otherwise they are killed.
	WaitBackground bool
	// Nested allows sandboxes inside: it adds /dev/fuse and leaves out
	// Landlock, the ban on mounting, on namespaces, on netlink but for routes and
	// on core dumps, and the covers over /proc. It helps
	// ordinary users only: the kernel gives root's uid no user namespace of
	// its own without capabilities.
	Nested bool
	// Confine has this process, all of it and for good, give up the rights that
	// it needs no more once its helpers have started. It goes on to use what lies
	// in the project, in the trees of Beside and in Keep, to read /proc, and to use
	// what it has open. Everything else is refused to it from then on: other files,
	// programs, mounts, looking at the processes inside, and capabilities other than
	// for files. So it is not for a process that does anything else, now or later. An
	// older Landlock takes less of that (Probe says so); what fails is told in
	// Result.Lost.
	Confine bool
	// Keep are further directories for Confine.
	Keep []string
	// Grace is how long everything inside may go on after this process got
	// SIGTERM and passed it on; then it is killed. 0 is DefaultGrace, less than
	// 0 leaves the end to the command.
	Grace time.Duration
	// MaxTasks is how many processes and threads there may be inside at once;
	// 0 is a bound by the number of processors, where the kernel has one for a process
	// namespace (Linux 6.14, and 301 at least). One that is asked for and cannot be had
	// is an error.
	MaxTasks int
	// Memory is how many bytes everything inside may take, what lies in the temporary file
	// systems included; there is no swap for it. When it takes more everything inside is
	// killed. CPU is how many processors it may use. 0 is no bound. Both need a control
	// group of version 2 that is delegated to the caller, or systemd, which makes one; so
	// does MaxTasks where the kernel has no such bound for a process namespace.
	Memory int64
	CPU    float64
	// Time is how long the command, and everything inside, may take, from its start;
	// 0 is without bound. Then it gets SIGTERM, is continued if it is stopped, and Grace
	// later (DefaultGrace where that is less than 0) everything inside is killed.
	Time time.Duration
	// TmpSize is how much each of the temporary file systems may hold, in bytes:
	// /tmp, /var/tmp, /dev/shm and a private home. They lie in memory. 0 is a
	// quarter of the machine's memory for /tmp and the home, and an eighth for
	// the others.
	TmpSize int64
	// HangTimeout is how long the supervisor may give no sign of life before
	// everything inside is ended; 0 is 10 s.
	HangTimeout time.Duration
}

// DefaultGrace is short, so that a deadline holds: `timeout 4 pinfold run`
// sends one SIGTERM after 4 s and waits for what comes.
const DefaultGrace = 400 * time.Millisecond

// JoinConfig is a further command of a run.
type JoinConfig struct {
	Command []string
	// Env are additions to the first command's environment: KEY=VALUE.
	Env []string
	// Stdin, Stdout and Stderr are as in Config.
	Stdin, Stdout, Stderr *os.File
}

// Result says how the command ended.
type Result struct {
	// ExitCode is the command's own, or 128+n when signal n killed it, 127
	// when it was not found, 126 when it could not be executed. Where that is 0
	// and some of its output is Unwritten, it is ExitUnwritten.
	ExitCode int
	// Signal is what killed the command, or 0.
	Signal syscall.Signal
	// Reason explains 126, 127 and an end that was not the command's own
	// doing; otherwise it is "".
	Reason string
	// Limit is the bound that ended it, which Reason explains; otherwise it is "".
	Limit Limit
	// Lost names the guarantees that this kernel could not give.
	Lost []string
	// Dropped is how many attempts, at least, came too fast to be judged, so
	// that OnRefusal was not told whether they were refused. Attempts that
	// would succeed or fail by themselves are among them.
	Dropped uint64
	// Unwritten says, for each standard stream, why what the command wrote could not
	// be written outside: a full disk, say. That nobody reads there is no reason; the
	// command learns of it by itself.
	Unwritten []error
}

// Limit is a bound on what a run may use up.
type Limit string

// The bounds that end a run.
const (
	LimitTime   Limit = "time"   // Config.Time
	LimitMemory Limit = "memory" // Config.Memory
)

// Exit codes that are not the command's own.
const (
	ExitUnwritten     = 1   // it succeeded, but its output could not be written
	ExitTime          = 124 // its time (Config.Time) was over, as timeout(1) has it
	ExitSetup         = 125 // set-up failed, the command did not run
	ExitNotExecutable = 126
	ExitNotFound      = 127
	exitSignal        = 128 // plus the signal's number
)

// SetupError says which step of the set-up failed. The command did not run.
type SetupError struct {
	Step string // what was being done, such as "mount the view"
	Err  error
	Fix  string // what to do about it; may be empty
}

// Hint returns Fix.
func (e *SetupError) Hint() string { return e.Fix }

func (e *SetupError) Error() string { return e.Step + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *SetupError) Unwrap() error { return e.Err }

// Finding is one thing that Probe looked at.
type Finding struct {
	Name     string `json:"name"`
	OK       bool   `json:"ok"`
	Required bool   `json:"required"`      // nothing runs without it
	Detail   string `json:"detail"`        // what was seen
	Means    string `json:"means"`         // what it means for the user
	Fix      string `json:"fix,omitempty"` // how to fix it; "" if OK
	// Paste is a line for a shell that does it, or the flags that a container wants;
	// "" if there is none.
	Paste string `json:"paste,omitempty"`
}
