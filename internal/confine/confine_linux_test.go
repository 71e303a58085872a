package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// ordinary is the user that tests run as besides root.
const ordinary = 1234

// trial is what a child tries.
type trial struct {
	Dir     string // with the directories tree, seen and outside
	Confine bool
	Other   int    // a process that began before, of the same user
	Socket  string // an abstract one
}

// result is what came of one thing that was tried.
type result struct {
	Name   string
	Wanted bool // that a process which is confined can still do it
	Err    string
}

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "try" {
		var tr trial
		err := json.Unmarshal([]byte(os.Args[2]), &tr)
		if err == nil {
			err = tr.run()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestProcess: a process that is confined does what it is there for, and nothing
// that it could do before.
func TestProcess(t *testing.T) {
	require.GreaterOrEqual(t, ABI(), 6, "these tests need Landlock that knows abstract sockets (Linux 6.12)")
	users := []int{os.Getuid()}
	if os.Getuid() == 0 {
		users = append(users, ordinary)
	}
	for _, uid := range users {
		t.Run("uid "+strconv.Itoa(uid), func(t *testing.T) {
			for _, r := range try(t, uid, false) {
				assert.Empty(t, r.Err, "%s, without being confined", r.Name)
			}
			for _, r := range try(t, uid, true) {
				if r.Wanted {
					assert.Empty(t, r.Err, "%s, confined", r.Name)
				} else {
					assert.NotEmpty(t, r.Err, "%s, confined", r.Name)
				}
			}
		})
	}
}

// try runs a child as uid and returns what came of it.
func try(t *testing.T, uid int, confined bool) (results []result) {
	tr := trial{Dir: t.TempDir(), Confine: confined}
	require.NoError(t, os.Chmod(filepath.Dir(tr.Dir), 0o755))
	for _, dir := range []string{"tree", "tree/sub", "seen", "outside"} {
		at := filepath.Join(tr.Dir, dir)
		require.NoError(t, os.Mkdir(at, 0o777))
		require.NoError(t, os.Chmod(at, 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(at, "file"), []byte("x"), 0o666))
		require.NoError(t, os.Chmod(filepath.Join(at, "file"), 0o666))
	}
	tr.Socket = "@pinfold-confine-" + strconv.Itoa(os.Getpid())
	abstract, err := net.Listen("unix", tr.Socket)
	require.NoError(t, err)
	defer abstract.Close()
	as := &syscall.SysProcAttr{}
	if uid != os.Getuid() {
		as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	} else if uid == 0 {
		as.Cloneflags = unix.CLONE_NEWNS
	}
	other := exec.Command("cat")
	other.SysProcAttr = as
	hold, err := other.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	defer func() {
		require.NoError(t, hold.Close())
		require.NoError(t, other.Wait())
	}()
	tr.Other = other.Process.Pid

	spec, err := json.Marshal(tr)
	require.NoError(t, err)
	cmd := exec.Command("/proc/self/exe", "try", string(spec))
	cmd.SysProcAttr = as
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &results))
	return results
}

// run does all that the test is about and prints the results.
func (tr trial) run() error {
	at := func(path string) string { return filepath.Join(tr.Dir, path) }
	before, err := os.OpenFile(at("outside/file"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	// Threads that there are already are confined, too.
	ask, said := make(chan struct{}), make(chan error)
	const threads = 3
	for range threads {
		go func() {
			runtime.LockOSThread()
			said <- nil
			<-ask
			said <- opened(at("outside/file"), os.O_RDONLY)
		}()
		<-said
	}
	if os.Getuid() == 0 {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return err
		}
	}
	if tr.Confine {
		if err := Process(Kept{
			Trees: []string{at("tree"), at("missing")}, Seen: []string{at("seen"), "/proc"}, Capabilities: ServesFiles,
		}); err != nil {
			return err
		}
	}
	var all []result
	add := func(wanted bool, name string, err error) {
		r := result{Name: name, Wanted: wanted}
		if err != nil {
			r.Err = err.Error()
		}
		all = append(all, r)
	}
	const (
		can    = true
		cannot = false
	)
	add(can, "read in the tree", opened(at("tree/file"), os.O_RDONLY))
	add(can, "write in the tree", opened(at("tree/file"), os.O_RDWR|os.O_TRUNC))
	add(can, "list the tree", opened(at("tree"), os.O_RDONLY|unix.O_DIRECTORY))
	add(can, "make in the tree", opened(at("tree/new"), os.O_WRONLY|os.O_CREATE|os.O_EXCL))
	add(can, "make a directory", os.Mkdir(at("tree/dir"), 0o755))
	add(can, "make a link", os.Symlink("file", at("tree/link")))
	add(can, "make a FIFO", unix.Mkfifo(at("tree/fifo"), 0o644))
	add(can, "rename to another directory", os.Rename(at("tree/new"), at("tree/sub/new")))
	add(can, "link into another directory", os.Link(at("tree/file"), at("tree/sub/hard")))
	add(can, "remove a file", os.Remove(at("tree/sub/new")))
	add(can, "remove a directory", os.Remove(at("tree/dir")))
	add(can, "read what is seen", opened(at("seen/file"), os.O_RDONLY))
	add(can, "read of itself", opened("/proc/self/status", os.O_RDONLY))
	_, err = before.WriteAt([]byte("y"), 0)
	add(can, "write to what was open", err)

	add(cannot, "write what is seen", opened(at("seen/file"), os.O_WRONLY))
	add(cannot, "read outside", opened(at("outside/file"), os.O_RDONLY))
	add(cannot, "write outside", opened(at("outside/file"), os.O_WRONLY))
	close(ask)
	for range threads {
		add(cannot, "read outside, on a thread that there was", <-said)
	}
	add(cannot, "list outside", opened(at("outside"), os.O_RDONLY|unix.O_DIRECTORY))
	add(cannot, "make outside", opened(at("outside/new"), os.O_WRONLY|os.O_CREATE))
	add(cannot, "make a directory outside", os.Mkdir(at("outside/dir"), 0o755))
	add(cannot, "rename out", os.Rename(at("tree/link"), at("outside/link")))
	add(cannot, "remove outside", os.Remove(at("outside/file")))
	add(cannot, "read system files", opened("/etc/passwd", os.O_RDONLY))
	add(cannot, "run a program", exec.Command("/bin/true").Run())
	_, err = os.Readlink(fmt.Sprintf("/proc/%d/cwd", tr.Other))
	add(cannot, "look at a process that began before", err)
	add(cannot, "connect to an abstract socket", connected(tr.Socket))
	if os.Getuid() == 0 {
		add(cannot, "mount", unix.Mount("none", at("tree/sub"), "tmpfs", 0, ""))
		add(cannot, "change root", unix.Chroot("/"))
		add(can, "give a file away", os.Chown(at("tree/file"), ordinary, ordinary))
	}
	add(cannot, "gain rights by a program", mayGain())
	return json.NewEncoder(os.Stdout).Encode(all)
}

func opened(path string, flags int) error {
	f, err := os.OpenFile(path, flags, 0o644)
	if err == nil {
		err = f.Close()
	}
	return err
}

func connected(address string) error {
	c, err := net.Dial("unix", address)
	if err == nil {
		err = c.Close()
	}
	return err
}

// mayGain fails where a set-user-id program gives nothing.
func mayGain() error {
	status, err := os.ReadFile("/proc/self/status")
	if err == nil && !strings.Contains(string(status), "NoNewPrivs:\t0") {
		err = errors.New("no_new_privs is set")
	}
	return err
}
