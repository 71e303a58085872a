//go:build linux

package launcher

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// screen is a terminal that a supervisor runs on.
type screen struct {
	master *os.File
	slave  *os.File

	mu   sync.Mutex
	text strings.Builder
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 33, Col: 99}))
	s := &screen{master: master, slave: slave}
	t.Cleanup(func() { slave.Close(); master.Close() })
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			s.mu.Lock()
			s.text.Write(buf[:n])
			s.mu.Unlock()
		}
	}()
	return s
}

// attach makes the screen the controlling terminal of cmd.
func (s *screen) attach(cmd *exec.Cmd) {
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty, cmd.SysProcAttr.Ctty = true, true, 0
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.slave, s.slave, s.slave
}

func (s *screen) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// wait waits until the screen has shown text.
func (s *screen) wait(t *testing.T, text string) {
	t.Helper()
	eventually(t, "the screen shows "+text, func() bool { return strings.Contains(s.shown(), text) })
}

func (s *screen) keys(t *testing.T, keys string) {
	t.Helper()
	_, err := s.master.WriteString(keys)
	require.NoError(t, err)
}

func TestTerminal(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		s := newScreen(t)
		cmd := supervisor(t, job{UID: uid, Root: root, Command: []string{"sh", "-i"}})
		s.attach(cmd)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() })

		// It has a name, a size, and job control.
		s.keys(t, "tty; stty size; echo is''atty\n")
		s.wait(t, "isatty")
		assert.Contains(t, s.shown(), "/dev/pts/0")
		assert.Contains(t, s.shown(), "33 99")
		require.NoError(t, unix.IoctlSetWinsize(int(s.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 44, Col: 111}))
		s.keys(t, "until stty size | grep '44 111'; do :; done\n")
		s.wait(t, "44 111\r\n")

		s.keys(t, "(trap 'echo got''int; exit' INT; echo rea''dy1; while :; do :; done)\n")
		s.wait(t, "ready1")
		s.keys(t, "\x03") // Ctrl-C ends what runs inside, not the shell, not pinfold
		s.wait(t, "gotint")

		// It starts nothing: a shell that is stopped between vfork and exec of
		// another program is not seen to stop.
		s.keys(t, "sh -c 'echo rea''dy2; while :; do :; done'\n")
		s.wait(t, "ready2")
		s.keys(t, "\x1a") // Ctrl-Z stops it
		s.wait(t, "Stopped")
		s.keys(t, "kill %1; exit 5\n")
		s.keys(t, "exit 5\n")
		end(t, cmd)
		assert.Equal(t, 5, cmd.ProcessState.ExitCode(), s.shown())

		// The outer terminal is as it was.
		tio, err := unix.IoctlGetTermios(int(s.slave.Fd()), unix.TCGETS)
		require.NoError(t, err)
		assert.NotZero(t, tio.Lflag&unix.ICANON)
		assert.NotZero(t, tio.Lflag&unix.ECHO)
	})
}

// jobShell has a shell with job control start a supervisor on the screen, say
// when that has stopped or ended, and continue it.
func jobShell(t *testing.T, s *screen, cmd *exec.Cmd) {
	t.Helper()
	s.attach(cmd)
	script := `set -m; "$0" supervise "$1"; echo rc1=$?; fg >/dev/null; echo rc2=$?`
	cmd.Args = []string{"sh", "-c", script, cmd.Path, cmd.Args[2]}
	cmd.Path = "/bin/sh"
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
}

// Ctrl-Z stops the command and pinfold too, and the shell outside gets its
// terminal back; continuing continues both, however long it took.
func TestSuspend(t *testing.T) {
	for name, c := range map[string]struct{ command, key string }{
		"by the terminal": {"trap 'echo back; exit 6' CONT; echo rea''dy; while :; do :; done", "\x1a"},
		// A program that reads keys itself stops itself when it has read this one.
		"by the program":  {"trap 'echo back; exit 6' CONT; stty -isig -icanon; echo rea''dy; head -c 1 >/dev/null; kill -STOP $$; while :; do :; done", "\x1a"},
		"in kitty's keys": {"trap 'echo back; exit 6' CONT; stty -isig -icanon; echo rea''dy; head -c 1 >/dev/null; kill -STOP $$; while :; do :; done", "\x1b[122;5u"},
	} {
		t.Run(name, func(t *testing.T) {
			root, _ := project(t, os.Getuid())
			s := newScreen(t)
			cmd := supervisor(t, job{UID: os.Getuid(), Root: root, Hang: deadline / 6, Command: []string{"sh", "-c", c.command}})
			jobShell(t, s, cmd)
			s.wait(t, "ready")
			s.keys(t, c.key)
			s.wait(t, "rc1=")
			s.wait(t, "back")
			s.wait(t, "rc2=6")
			end(t, cmd)
		})
	}
}

// A command that stops itself stops nothing outside: whatever watches over the
// run in the same process group goes on. The operator is told, and the key that
// suspends works then as well.
func TestOwnStopStaysInside(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		for _, sig := range []string{"STOP", "TSTP", "TTIN", "TTOU"} {
			root, _ := project(t, uid)
			s := newScreen(t)
			cmd := supervisor(t, job{UID: uid, Root: root, Write: []string{"out"}, Hang: deadline / 6,
				Command: []string{"sh", "-c", "trap 'echo back; exit 6' CONT; kill -" + sig + " 0; while :; do :; done"}})
			jobShell(t, s, cmd)
			s.wait(t, "stopped itself by SIG"+sig+" interactive=true")
			assert.NotContains(t, s.shown(), "rc1=", "the supervisor runs")
			s.keys(t, "\x1a")
			s.wait(t, "rc1=")
			s.wait(t, "back")
			s.wait(t, "rc2=6")
			end(t, cmd)
		}
	})
}

// Nor does it help against the end: SIGTERM, and so timeout(1), continues what
// is stopped, and what does not end then is killed, be it ten or a thousand.
func TestSIGTERMEndsWhateverItDoes(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		for name, c := range map[string]struct {
			do    string
			grace time.Duration
			want  int
		}{
			"stopped":     {"touch out/ready; kill -STOP 0", 0, 143},
			"deaf":        {"trap '' TERM; touch out/ready; while :; do :; done", DefaultGrace, 137},
			"deaf, again": {"trap '' TERM; touch out/ready; while :; do kill -STOP 0; done", DefaultGrace, 137},
			"storm":       {"trap '' TERM; touch out/ready; f() { f | f & }; f 2>/dev/null; while :; do :; done", DefaultGrace, 137},
			"tidy":        {"trap 'touch out/saved; exit 7' TERM; touch out/ready; while :; do :; done", 0, 7},
		} {
			root, _ := project(t, uid)
			cmd := started(t, job{UID: uid, Root: root, Write: []string{"out"}, Tasks: 400, Grace: c.grace, Command: []string{"sh", "-c", c.do}})
			require.NoError(t, cmd.Process.Signal(unix.SIGTERM))
			end(t, cmd)
			assert.Equal(t, c.want, cmd.ProcessState.ExitCode(), name)
			if name == "tidy" {
				assert.FileExists(t, root+"/out/saved")
			}
		}
	})
}

// A cancelled context continues what is stopped too.
func TestCancelEndsWhatIsStopped(t *testing.T) {
	root, _ := project(t, os.Getuid())
	cmd := started(t, job{UID: os.Getuid(), Root: root, Write: []string{"out"}, CancelOn: "out/ready",
		Command: []string{"sh", "-c", "touch out/ready; kill -STOP 0; while :; do :; done"}})
	end(t, cmd)
	assert.Equal(t, 143, cmd.ProcessState.ExitCode())
}

// A reader that does not read does not put off the end.
func TestUnreadOutputDoesNotPutOffTheEnd(t *testing.T) {
	root, _ := project(t, os.Getuid())
	cmd := supervisor(t, job{UID: os.Getuid(), Root: root, Grace: DefaultGrace, Command: []string{"yes"}})
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd.Stdout = w
	require.NoError(t, cmd.Start())
	w.Close()
	eventually(t, "the pipe is full", func() bool {
		n, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ)
		return err == nil && n >= 64<<10
	})
	require.NoError(t, cmd.Process.Signal(unix.SIGTERM))
	end(t, cmd)
	assert.Contains(t, []int{143, 137}, cmd.ProcessState.ExitCode(), "ended by the signal or, on a busy machine, by its time")
}

// How many processes there may be inside is bounded, and what is outside is not.
func TestTasksAreBounded(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		count := "i=0; while [ $i -lt 500 ]; do i=$((i+1)); sleep 1000 & done; echo $i"
		root, _ := project(t, uid)
		got := run(t, job{UID: uid, Root: root, Tasks: 400, Command: []string{"sh", "-c", count}}, nil)
		assert.NotZero(t, got.code)
		assert.Contains(t, strings.ToLower(got.errOut), "fork")
		got = run(t, job{UID: uid, Root: root, Command: []string{"sh", "-c", count}}, nil)
		assert.Equal(t, outcome{0, "500\n", ""}, got, "by default there is room")
	})
}

// Where no shell would continue it, keys do not stop the command.
func TestNoSuspendWithoutShell(t *testing.T) {
	root, _ := project(t, os.Getuid())
	s := newScreen(t)
	cmd := supervisor(t, job{UID: os.Getuid(), Root: root, Command: []string{"sh", "-c",
		"trap 'exit 6' CONT; echo ready; while :; do :; done"}})
	s.attach(cmd)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	s.wait(t, "ready")
	s.keys(t, "\x1a")
	end(t, cmd)
	assert.Equal(t, 6, cmd.ProcessState.ExitCode())
}

// A filter cannot type on the terminal outside, nor on its own (TIOCSTI).
func TestNoTyping(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		s := newScreen(t)
		cmd := supervisor(t, job{UID: uid, Root: root, Command: []string{insideProbe, "probe", "sti"}})
		s.attach(cmd)
		require.NoError(t, cmd.Start())
		end(t, cmd)
		s.wait(t, "operation not permitted")

		// Unguarded it works, unless this kernel forbids it to everybody.
		free := newScreen(t)
		cmd = exec.Command(shared.binary(t), "probe", "sti")
		cmd.SysProcAttr = &syscall.SysProcAttr{}
		free.attach(cmd)
		require.NoError(t, cmd.Start())
		end(t, cmd)
		if sysctl("dev/tty/legacy_tiocsti") == "0" {
			free.wait(t, "input/output error")
			return
		}
		assert.Zero(t, cmd.ProcessState.ExitCode(), free.shown())
	})
}

// In a pipeline the terminal is still there for output, and typed lines are
// standard input.
func TestTerminalInPipeline(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		s := newScreen(t)
		cmd := supervisor(t, job{UID: uid, Root: root,
			Command: []string{"sh", "-c", "test -t 2 && test ! -t 1 && echo yes >&2; cat"}})
		s.attach(cmd)
		r, w, err := os.Pipe()
		require.NoError(t, err)
		defer r.Close()
		cmd.Stdout = w
		require.NoError(t, cmd.Start())
		w.Close()
		s.wait(t, "yes")
		s.keys(t, "typed\n\x04")
		buf := make([]byte, 100)
		n, err := r.Read(buf)
		require.NoError(t, err)
		assert.Equal(t, "typed\n", string(buf[:n]))
		end(t, cmd)
		assert.Zero(t, cmd.ProcessState.ExitCode())
	})
}
