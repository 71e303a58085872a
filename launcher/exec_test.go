//go:build linux

package launcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// serveControl has a run obey whoever connects to the sockets in dir.
func serveControl(dir string, control *Control) error {
	for name, do := range map[string]func(*os.File){
		"exec": func(conn *os.File) {
			if err := control.Exec(conn); err != nil {
				fmt.Fprintln(os.Stderr, "exec:", err)
			}
		},
		"stop": func(*os.File) { control.Stop(time.Second / 4) },
	} {
		l, err := net.Listen("unixpacket", filepath.Join(dir, name))
		if err != nil {
			return err
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				f, err := c.(*net.UnixConn).File()
				if err = errors.Join(err, c.Close()); err == nil {
					go func() {
						defer f.Close()
						do(f)
					}()
				}
			}
		}()
	}
	return nil
}

// join starts a command in the run that obeys at a socket.
func join(socket string, command []string) int {
	c, err := net.Dial("unixpacket", socket)
	if err != nil {
		return complain(err)
	}
	f, err := c.(*net.UnixConn).File()
	if err = errors.Join(err, c.Close()); err != nil {
		return complain(err)
	}
	defer f.Close()
	res, err := Join(context.Background(), f, JoinConfig{Command: command, Env: []string{"ADDED=yes"}, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		return complain(err)
	}
	if res.Reason != "" {
		fmt.Fprintln(os.Stderr, res.Reason)
	}
	for _, err := range res.Unwritten {
		fmt.Fprintln(os.Stderr, err)
	}
	return res.ExitCode
}

// joiner is a prepared process that starts a command in a run.
func joiner(t testing.TB, j job, command ...string) *exec.Cmd {
	cmd := exec.Command(shared.binary(t), append([]string{"join", filepath.Join(j.Control, "exec")}, command...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if j.UID != os.Getuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(j.UID), Gid: uint32(j.UID)}
	}
	return cmd
}

// further runs a further command to its end.
func further(t testing.TB, j job, stdin string, command ...string) outcome {
	t.Helper()
	cmd := joiner(t, j, command...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	require.NoError(t, cmd.Start())
	end(t, cmd)
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// running is a run that obeys, whose command does what is told and then waits.
func running(t testing.TB, uid int, first string) (job, *exec.Cmd) {
	t.Helper()
	root, _ := project(t, uid)
	dir, err := os.MkdirTemp("", "pinfold-control-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	own(t, uid, dir)
	j := job{UID: uid, Root: root, Write: []string{"out"}, Control: dir, Tell: "watch",
		Command: []string{"sh", "-c", first + "\ntouch out/ready; while :; do sleep 1000; done"}}
	return j, started(t, j)
}

// whatItHas prints what a process inside has and may.
const whatItHas = `grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp|Seccomp_filters|Umask|SigIgn|SigBlk)' /proc/self/status
cat /proc/self/limits /proc/self/cgroup /proc/self/mountinfo
ls -l /proc/self/ns /proc/self/cwd /proc/self/root | sed 's/.* //'
env | grep -v -e ^ADDED= -e ^SHLVL= -e ^_= | sort
cd /proc/self/fd && echo *`

// A further command has what the first one has, to the letter, and gets out no more
// than that.
func TestExecIsConfinedAsTheFirst(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		j, _ := running(t, uid, "("+whatItHas+") > out/first; echo $$ > out/pid")
		abstract := fmt.Sprintf("@pinfold-exec-%d-%d", os.Getpid(), uid)
		listen(t, abstract)
		first, err := os.ReadFile(filepath.Join(j.Root, "out/first"))
		require.NoError(t, err)
		require.NotEmpty(t, first)
		got := further(t, j, "", "sh", "-c", whatItHas)
		require.Zero(t, got.code, got.errOut)
		assert.Equal(t, string(first), got.out)
		assert.Contains(t, got.out, "NoNewPrivs:\t1")
		assert.Contains(t, got.out, "CapBnd:\t0000000000000000")
		assert.Equal(t, "yes\n", further(t, j, "", "sh", "-c", "echo $ADDED").out)

		_, out := project(t, uid)
		for _, try := range []struct {
			args []string
			want string
			root bool // works outside for root only
		}{
			{[]string{"read", out + "/secret"}, "no such file", false},
			{[]string{"connect", abstract}, "operation not permitted", false},
			{[]string{"keyctl"}, "operation not permitted", false},
			{[]string{"unshare"}, "operation not permitted", false},
			{[]string{"by-handle", "/usr/bin"}, "operation not permitted", true},
			{[]string{"read", "/etc/shadow"}, "permission denied", true},
			{[]string{"write-open", "/proc/sys/kernel/core_pattern"}, "read-only file system", true},
		} {
			if try.root && uid != 0 {
				continue
			}
			code, text := outside(t, uid, nil, try.args...)
			assert.Zero(t, code, "unguarded %q: %s", try.args, text)
			got := further(t, j, "", append([]string{insideProbe, "probe"}, try.args...)...)
			assert.Equal(t, 1, got.code, "%q: %s", try.args, got.errOut)
			assert.Contains(t, got.out, try.want, "%q", try.args)
		}
		assert.NotZero(t, further(t, j, "", "sh", "-c", "echo x > ok.txt").code)
		assert.Zero(t, further(t, j, "", "sh", "-c", "echo x > out/x").code)
		// Each reaches the other, as two commands of one run do.
		assert.Zero(t, further(t, j, "", "sh", "-c", "kill -0 $(cat out/pid)").code)
	})
}

// The process that becomes a further command is out of reach of those inside until it is
// one of them: none opens its program (CVE-2019-5736), its descriptors (CVE-2016-9962), or its
// directory (CVE-2024-21626), and none traces it. The control is a process of theirs.
func TestExecIsOutOfReachBefore(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		const attack = `: > out/got; (while :; do for p in /proc/[0-9]*; do
			case $p in /proc/$$|/proc/self) continue;; esac
			e=$(readlink $p/exe) && echo "exe $e" >> out/got
			ls $p/fd 2>/dev/null | grep -q . && readlink $p/fd/* >> out/got
		done 2>/dev/null; done) & sleep 999 <ok.txt &`
		j, _ := running(t, uid, attack)
		read := func() string {
			data, err := os.ReadFile(filepath.Join(j.Root, "out/got"))
			require.NoError(t, err)
			return string(data)
		}
		eventually(t, "the attacker sees its own", func() bool { return strings.Contains(read(), j.Root+"/ok.txt") })
		for i := range 100 {
			require.Equal(t, outcome{out: "x"}, further(t, j, "", "printf", "x"), i)
		}
		got := read()
		assert.NotContains(t, got, "launcher.test", "the program that starts commands")
		assert.NotContains(t, got, "memfd:", "what a command is started with")
		assert.NotContains(t, got, "socket:", "the channel to the supervisor")
		for _, what := range []string{"cat /proc/1/environ", "readlink /proc/1/fd/4", "readlink /proc/1/exe", "ls /proc/1/cwd/", "head -c1 /proc/1/mem"} {
			assert.NotZero(t, further(t, j, "", "sh", "-c", what).code, what)
		}
	})
}

// Streams, arguments and the exit code pass as they do for the first command.
func TestExecPassesThrough(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		j, cmd := running(t, uid, ":")
		assert.Equal(t, outcome{3, "in\n", "err\n"}, further(t, j, "in\n", "sh", "-c", "cat; echo err >&2; exit 3"))
		assert.Equal(t, 137, further(t, j, "", "sh", "-c", "kill -9 $$").code)
		assert.Equal(t, 127, further(t, j, "", "no-such-command").code)
		assert.Equal(t, 126, further(t, j, "", "/etc/passwd").code)
		odd := "a b\xff\n'" + strings.Repeat("x", 60_000)
		assert.Equal(t, outcome{out: odd}, further(t, j, "", "printf", "%s", odd))
		big := strings.Repeat("0123456789abcdef", 100_000)
		assert.Equal(t, outcome{out: big}, further(t, j, big, "cat"))
		assert.Equal(t, outcome{out: "in the project"}, further(t, j, "", "sh", "-c", "[ $PWD = "+j.Root+" ] && [ $(pwd -P) = "+j.Root+" ] && printf 'in the project'"))

		// One whose caller is killed gets SIGHUP, one whose run ends is killed, and its caller told.
		gone := joiner(t, j, "sh", "-c", "trap 'touch out/hup; exit' HUP; touch out/one; while :; do sleep 0.01; done")
		require.NoError(t, gone.Start())
		there := func(name string) func() bool {
			return func() bool { _, err := os.Stat(filepath.Join(j.Root, "out", name)); return err == nil }
		}
		eventually(t, "it runs", there("one"))
		require.NoError(t, gone.Process.Kill())
		_ = gone.Wait()
		eventually(t, "it has heard", there("hup"))

		last := joiner(t, j, "sh", "-c", "trap '' HUP TERM; touch out/two; while :; do sleep 0.01; done")
		var said bytes.Buffer
		last.Stderr = &said
		require.NoError(t, last.Start())
		eventually(t, "it runs", there("two"))
		pids := family(cmd.Process.Pid)
		c, err := net.Dial("unixpacket", filepath.Join(j.Control, "stop"))
		require.NoError(t, err)
		defer c.Close()
		end(t, cmd)
		end(t, last)
		assert.Equal(t, 143, cmd.ProcessState.ExitCode())
		assert.Equal(t, 137, last.ProcessState.ExitCode())
		assert.Equal(t, runEnded+"\n", said.String())
		eventually(t, "nothing is left", func() bool { return noneAlive(pids) })
	})
}

// What does not end by SIGTERM is killed when its time is up, also when it is stopped.
func TestControlStops(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		for _, first := range []string{"trap '' TERM", "trap '' TERM; (sleep 1; kill -STOP 0) &"} {
			j, cmd := running(t, uid, first)
			beside := joiner(t, j, "sh", "-c", "trap '' TERM; touch out/beside; while :; do sleep 1000; done")
			var said bytes.Buffer
			beside.Stderr = &said
			require.NoError(t, beside.Start())
			eventually(t, "it runs", func() bool { _, err := os.Stat(filepath.Join(j.Root, "out/beside")); return err == nil })
			pids := family(cmd.Process.Pid)
			c, err := net.Dial("unixpacket", filepath.Join(j.Control, "stop"))
			require.NoError(t, err)
			end(t, cmd)
			end(t, beside)
			require.NoError(t, c.Close())
			assert.Equal(t, 137, cmd.ProcessState.ExitCode())
			assert.Equal(t, 137, beside.ProcessState.ExitCode(), "a further command is killed with it")
			assert.Equal(t, runEnded+"\n", said.String())
			eventually(t, "nothing is left", func() bool { return noneAlive(pids) })
		}
	})
}

// A further command on a terminal has one of its own, made inside: its name, its size,
// job control, Ctrl-C and resizing work, and the caller's terminal is as it was after.
func TestExecOnATerminal(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		j, _ := running(t, uid, ":")
		s := newScreen(t)
		cmd := joiner(t, j, "sh", "-i")
		s.attach(cmd)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		s.keys(t, "tty; stty size; echo is''atty\n")
		s.wait(t, "isatty")
		assert.Contains(t, s.shown(), "/dev/pts/0")
		assert.Contains(t, s.shown(), "33 99")
		require.NoError(t, unix.IoctlSetWinsize(int(s.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 44, Col: 111}))
		s.keys(t, "until stty size | grep '44 111'; do :; done\n")
		s.wait(t, "44 111\r\n")
		s.keys(t, "(trap 'echo got''int; exit' INT; echo rea''dy1; while :; do :; done)\n")
		s.wait(t, "ready1")
		s.keys(t, "\x03")
		s.wait(t, "gotint")
		s.keys(t, "exit 5\n")
		s.keys(t, "exit 5\n")
		end(t, cmd)
		assert.Equal(t, 5, cmd.ProcessState.ExitCode(), s.shown())
		tio, err := unix.IoctlGetTermios(int(s.slave.Fd()), unix.TCGETS)
		require.NoError(t, err)
		assert.NotZero(t, tio.Lflag&unix.ICANON)
		assert.NotZero(t, tio.Lflag&unix.ECHO)
	})
}
