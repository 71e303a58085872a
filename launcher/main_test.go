//go:build linux

package launcher

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// The test binary plays four parts: the tests, a supervisor of its own
// process (to be killed, stopped, and run as another user), the helpers that
// Run starts, which never come here, and the program that probes from inside.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "supervise":
			os.Exit(supervise(os.Args[2]))
		case "probe":
			os.Exit(probe(os.Args[2], os.Args[3:]))
		case "join":
			os.Exit(join(os.Args[2], os.Args[3:]))
		}
	}
	// Who started us may ignore these (nohup, a shell's background job), and a
	// child would inherit that; what is caught is not inherited.
	for _, sig := range []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	code := m.Run()
	os.RemoveAll(shared.dir)
	os.Exit(code)
}

// fewAttempts in a helper's environment lowers its bound to 1, before the
// package's init becomes that helper.
const fewAttempts = "FEW_ATTEMPTS=1"

var _ = func() bool {
	if slices.Contains(os.Environ(), fewAttempts) {
		maxAttempts = 1
	}
	return true
}()

// job is what a supervisor process is told.
type job struct {
	UID        int // 0 stays what it is
	Root       string
	Write      []string
	Hide       []string
	Beside     []string // trees shown by views of their own, whose out/ can be written
	Command    []string
	Dir        string
	RO         []string
	Layers     []Layer
	Home       string
	UserHome   string // HOME outside, if set
	User       string
	Env        []string
	Files      map[string][]byte
	Sockets    map[string]string
	Devices    []string
	Dev        bool // a /dev with a graphics device, which has no driver, and with another that is none
	Background bool
	Nested     bool
	Hang       time.Duration
	Etc        string // mount a file system of this kind on /etc first
	Doctor     bool   // print what Probe finds instead
	Leak       bool   // leave a descriptor open for the command
	Tell       string // print each refusal: as "watch" tells of it, or "ask" (one connection)
	Few        bool   // one attempt at most waits to be told
	Slow       bool   // on the first refusal make out/heard, and hear of no more until everything inside has ended
	CanWatch   bool   // print what CanWatch says instead
	NoLandlock bool   // as on a kernel that has none
	Unconfined bool   // the supervisor keeps its rights
	Reach      string // say in the end whether the supervisor can still read this
	Tasks      int
	Time       time.Duration
	Tmp        int64
	Memory     int64
	CPU        float64
	Grace      time.Duration // 0 is as long as a test may take: a busy machine is no reason to kill
	CancelOn   string        // cancel when this appears in the project
	Control    string        // directory of the sockets at which further commands are started, and the run is stopped
}

// supervise runs one job as cmd/pinfold would.
func supervise(spec string) int {
	var j job
	if err := json.Unmarshal([]byte(spec), &j); err != nil {
		return complain(err)
	}
	if j.Dev && os.Getuid() == 0 {
		if err := replaceDev(); err != nil {
			return complain(err)
		}
	}
	if j.UID != 0 && os.Getuid() != j.UID {
		return complain(becomeUser(j.UID))
	}
	if j.NoLandlock {
		if err := refuseLandlock(); err != nil {
			return complain(err)
		}
	}
	if j.Etc != "" {
		if err := replaceEtc(j.Etc); err != nil {
			return complain(err)
		}
	}
	if j.Doctor {
		if err := json.NewEncoder(os.Stdout).Encode(Probe()); err != nil {
			return complain(err)
		}
		return 0
	}
	if j.UserHome != "" {
		os.Setenv("HOME", j.UserHome)
	}
	if j.CanWatch {
		fmt.Println(CanWatch())
		return 0
	}
	runtime.GOMAXPROCS(1)
	r, err := pathresolver.New(pathresolver.Config{Root: j.Root, WritePaths: j.Write, Hide: j.Hide})
	if err != nil {
		return complain(err)
	}
	defer r.Close()
	me := sandboxfs.IDs{UID: uint32(os.Getuid()), GID: uint32(os.Getgid())}
	o := sandboxfs.Options{Owner: me}
	if me.UID == 0 {
		o.Passthrough, o.DefaultPermissions, o.AllowOther = true, true, j.User != ""
	} else {
		o.SquashIDs = &me
	}
	var told refusals
	switch j.Tell {
	case "watch":
		o.OnRefusal = told.add
	case "ask":
		o.OnRefusal, o.ReportAll = told.add, true
	}
	v, err := sandboxfs.New(r, o)
	if err != nil {
		return complain(err)
	}
	if j.Leak {
		if err := unix.Dup3(int(os.Stderr.Fd()), 77, 0); err != nil {
			return complain(err)
		}
	}
	beside, done, err := placeBeside(j.Beside, o)
	defer done()
	if err != nil {
		return complain(err)
	}
	var watch func(sandboxfs.Refusal)
	if j.Tell == "watch" {
		watch = told.add
	}
	if j.Slow {
		watch = func(r sandboxfs.Refusal) {
			if err := os.WriteFile(j.Root+"/out/heard", nil, 0o644); err != nil {
				panic(err)
			}
			for len(family(os.Getpid())) > 0 { // bounded by the test's own deadline
				time.Sleep(time.Millisecond)
			}
			told.add(r)
		}
	}
	if j.Few {
		childEnv = append(childEnv, fewAttempts)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if j.CancelOn != "" {
		go func() {
			for { // bounded by the test's own deadline
				if _, err := os.Stat(j.Root + "/" + j.CancelOn); err == nil {
					cancel()
					return
				}
				time.Sleep(time.Millisecond)
			}
		}()
	}
	var control *Control
	if j.Control != "" {
		control = NewControl()
		if err := serveControl(j.Control, control); err != nil {
			return complain(err)
		}
	}
	res, err := Run(ctx, Config{
		Control: control,
		OnStopped: func(stop syscall.Signal, interactive bool) {
			fmt.Fprintf(os.Stderr, "stopped itself by %s interactive=%v\r\n", unix.SignalName(stop), interactive)
		},
		Confine:  !j.Unconfined,
		MaxTasks: j.Tasks, Time: j.Time, Memory: j.Memory, CPU: j.CPU, TmpSize: j.Tmp, Grace: cmp.Or(j.Grace, deadline),
		OnRefusal: watch,
		Resolver:  r, View: v, Beside: beside, Command: j.Command, Dir: j.Dir, RO: j.RO, Layers: j.Layers, Home: j.Home, User: j.User,
		Env: j.Env, Files: j.Files, Sockets: j.Sockets, Devices: j.Devices, Self: "probe", WaitBackground: j.Background, Nested: j.Nested, HangTimeout: j.Hang,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	if err != nil {
		v.Close()
		return complain(err)
	}
	if err := v.Close(); err != nil {
		return complain(err)
	}
	for _, l := range res.Lost {
		fmt.Fprintln(os.Stderr, "lost:", l)
	}
	if j.Reach != "" {
		_, err := os.ReadFile(j.Reach)
		fmt.Fprintln(os.Stderr, "reached:", err)
	}
	told.print(os.Stderr, res.Dropped)
	if res.Reason != "" {
		fmt.Fprintln(os.Stderr, res.Reason)
	}
	for _, err := range res.Unwritten {
		fmt.Fprintln(os.Stderr, err)
	}
	return res.ExitCode
}

// refuseLandlock has the kernel answer this process and its children as one that
// does not know it.
func refuseLandlock() error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	var p program
	p.load(offNumber)
	p.when(unix.SYS_LANDLOCK_CREATE_RULESET, func() { p.ret(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)) })
	p.ret(unix.SECCOMP_RET_ALLOW)
	return installFilter(p)
}

// placeBeside makes a view of each directory, whose names and refusals are told
// as o says. done closes them.
func placeBeside(dirs []string, o sandboxfs.Options) (placed []Placed, done func(), err error) {
	var ends []func() error
	done = func() {
		for _, end := range slices.Backward(ends) {
			_ = end()
		}
	}
	o.SingleConnection = true
	for _, dir := range dirs {
		r, err := pathresolver.New(pathresolver.Config{Root: dir, WritePaths: []string{"out"}})
		if err != nil {
			return nil, done, err
		}
		ends = append(ends, r.Close)
		v, err := sandboxfs.New(r, o)
		if err != nil {
			return nil, done, err
		}
		ends = append(ends, v.Close)
		placed = append(placed, Placed{View: v, Root: r.Root(), WritePaths: r.WritePaths()})
	}
	return placed, done, nil
}

// replaceEtc covers /etc with a file system that holds only what is listed,
// in a mount namespace of this process's own.
func replaceEtc(kind string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("none", "/etc", kind, 0, "mode=0755"); err != nil {
		return err
	}
	for name, mode := range map[string]os.FileMode{"shadow": 0o640, "public": 0o644} {
		if err := os.WriteFile("/etc/"+name, []byte("old "+name+"\n"), mode); err != nil {
			return err
		}
	}
	if err := os.Mkdir("/etc/private", 0o700); err != nil {
		return err
	}
	return os.WriteFile("/etc/private/key", []byte("old key\n"), 0o644)
}

// replaceDev mounts a /dev that has what a test of devices needs, in the mount namespace
// that this process has been given for it.
func replaceDev() error {
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return err
	}
	parents, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", os.Getppid()))
	if err != nil {
		return err
	}
	if own == parents {
		return fmt.Errorf("not in a mount namespace of its own: %s", own)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("none", "/dev", "tmpfs", 0, "mode=0755"); err != nil {
		return err
	}
	if err := os.MkdirAll("/dev/dri/by-path", 0o755); err != nil {
		return err
	}
	unix.Umask(0)
	for name, number := range map[string][2]uint32{
		"null": {1, 3}, "zero": {1, 5}, "full": {1, 7}, "random": {1, 8}, "urandom": {1, 9}, "tty": {5, 0}, "fuse": {10, 229},
		"dri/renderD128": {226, 128}, "dri/card0": {1, 3},
	} {
		if err := unix.Mknod("/dev/"+name, unix.S_IFCHR|0o666, int(unix.Mkdev(number[0], number[1]))); err != nil {
			return err
		}
	}
	return os.Symlink("../renderD128", "/dev/dri/by-path/pci-render")
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "error:", err)
	if h, ok := err.(interface{ Hint() string }); ok && h.Hint() != "" {
		fmt.Fprintln(os.Stderr, "hint:", h.Hint())
	}
	return ExitSetup
}

// becomeUser starts this program again as an ordinary user. /dev/fuse is
// open to everybody there, as distributions have it; the process has a mount
// namespace of its own for that.
func becomeUser(uid int) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount(shared.fuseNode(), "/dev/fuse", "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("open /dev/fuse to everybody: %w", err)
	}
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setresgid(uid, uid, uid); err != nil {
		return err
	}
	if err := syscall.Setresuid(uid, uid, uid); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, os.Environ())
}
