package viewbench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/integration/bench/worker"
)

// env is a kind at work: its daemon, if it has one, and a worker inside.
type env struct {
	kind   Kind
	paths  Paths
	user   *syscall.Credential // nil: the bench's own
	daemon *exec.Cmd
	ended  chan struct{} // closed when the daemon is gone
	words  *tail
	worker *client
}

// start shows the tree and starts a worker in it; quick is handed to the
// worker. On an error nothing is left running.
func (e *env) start(ctx context.Context, quick bool) (err error) {
	defer func() {
		if err != nil {
			e.stop()
			err = fmt.Errorf("%s: %w", e.kind.Name, err)
		}
	}()
	top := e.paths.Tree
	if e.kind.Mount != nil {
		top = e.paths.Point
		if err := e.mount(ctx); err != nil {
			return err
		}
	}
	argv := []string{filepath.Join(e.paths.Bin, "bench"), "worker", "--dir", filepath.Join(worker.WriteDir, e.slot())}
	if quick {
		argv = append(argv, "--quick")
	}
	cmd := e.command(e.inside(argv))
	cmd.Dir = top
	e.worker, err = startClient(cmd)
	if err != nil {
		return err
	}
	_, err = e.worker.do(ctx, worker.Request{Row: "mounts"})
	return err
}

// slot names the environment's own directory in the write path.
func (e *env) slot() string {
	if e.user != nil {
		return e.kind.Name + "-user"
	}
	return e.kind.Name
}

func (e *env) inside(argv []string) []string {
	if e.kind.Wrap == nil {
		return argv
	}
	return e.kind.Wrap(e.paths, argv)
}

// command is a process that dies with the bench, as the environment's user, in a
// session of its own. Linux hands out processor time by session where it has
// autogroups (sched(7)): a daemon that shared the session of who uses it, which
// no daemon does in life, would be switched to and from for less.
func (e *env) command(argv []string) *exec.Cmd {
	c := exec.Command(argv[0], argv[1:]...)
	c.Env = append(c.Environ(), "HOME="+e.paths.Scratch)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL, Credential: e.user}
	return c
}

// mountLimit is how long a daemon may take to show its tree.
const mountLimit = 15 * time.Second

func (e *env) mount(ctx context.Context) error {
	e.daemon, e.words, e.ended = e.command(e.kind.Mount(e.paths)), &tail{}, make(chan struct{})
	e.daemon.Stdout, e.daemon.Stderr = e.words, e.words
	if err := e.daemon.Start(); err != nil {
		close(e.ended)
		return err
	}
	go func() {
		_ = e.daemon.Wait()
		close(e.ended)
	}()
	deadline := time.NewTimer(mountLimit)
	defer deadline.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !isFUSE(e.paths.Point) {
		select {
		case <-look.C:
		case <-e.ended:
			return fmt.Errorf("%s ended: %s", strings.Join(e.daemon.Args, " "), e.words)
		case <-deadline.C:
			return fmt.Errorf("%s shows nothing after %s: %s", e.daemon.Args[0], mountLimit, e.words)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// isFUSE tells by the kernel's table: asking the mount itself is for its
// owner only.
func isFUSE(point string) bool {
	table, err := os.ReadFile("/proc/self/mountinfo")
	return err == nil && strings.Contains(string(table), " "+point+" ")
}
