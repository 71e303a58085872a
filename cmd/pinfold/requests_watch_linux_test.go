package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/keyburst"
)

// terminal is pinfold on a terminal of its own.
type terminal struct {
	*testing.T
	keys *os.File
	cmd  *exec.Cmd

	mu   sync.Mutex
	all  []byte // that it has written
	news chan struct{}
	over chan struct{} // closed once all that it wrote has been read
}

// onTerminal starts pinfold on a new terminal.
func onTerminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	return programOnTerminal(t, "pinfold", env, args...)
}

// programOnTerminal starts another one there.
func programOnTerminal(t *testing.T, program string, env []string, args ...string) *terminal {
	t.Helper()
	keys, side, err := newTerminal()
	require.NoError(t, err)
	x := &terminal{T: t, keys: keys, cmd: exec.Command(program, args...), news: make(chan struct{}, 1), over: make(chan struct{})}
	x.cmd.Env = append(os.Environ(), env...)
	require.NoError(t, startOnTerminal(x.cmd, side))
	go func() {
		defer close(x.over)
		for buf := make([]byte, 4096); ; {
			n, err := keys.Read(buf)
			x.mu.Lock()
			x.all = append(x.all, buf[:n]...)
			x.mu.Unlock()
			select {
			case x.news <- struct{}{}:
			default:
			}
			if err != nil { // its last process has gone
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill() // if it still runs
		_ = x.cmd.Wait()
		<-x.over
		require.NoError(t, keys.Close())
	})
	return x
}

func (x *terminal) raw() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return string(x.all)
}

func (x *terminal) press(keys string) {
	x.Helper()
	_, err := x.keys.WriteString(keys)
	require.NoError(x, err)
}

var forward = regexp.MustCompile(`\x1b\[(\d+)C`)

// sees waits until the screen shows a text. The screen is drawn anew for it, as
// otherwise only what changes is written.
func (x *terminal) sees(want string) {
	x.Helper()
	const drawAnew = "\f"
	late := time.After(clitest.InTime)
	from := len(x.raw())
	for again := time.NewTicker(time.Second); ; {
		text := forward.ReplaceAllStringFunc(x.raw()[from:], func(s string) string {
			n, _ := strconv.Atoi(forward.FindStringSubmatch(s)[1])
			return strings.Repeat(" ", min(n, 1000))
		})
		if strings.Contains(ansi.Strip(text), want) {
			again.Stop()
			return
		}
		select {
		case <-x.news:
		case <-again.C:
			x.press(drawAnew)
		case <-late:
			require.FailNow(x, "the screen does not show it", "%q in %q", want, x.raw())
		}
	}
}

// chooses presses a key until the screen shows what it does: one that comes too
// soon after others is ignored.
func (x *terminal) chooses(key, shows string) {
	x.Helper()
	late := time.After(clitest.InTime)
	for {
		from := len(x.raw())
		x.press(key)
		for again := time.After(2 * keyburst.Pause); again != nil; {
			if strings.Contains(ansi.Strip(x.raw()[from:]), shows) {
				return
			}
			select {
			case <-x.news:
			case <-again:
				again = nil
			case <-late:
				require.FailNow(x, "the key does nothing", "%q, %q in %q", key, shows, x.raw())
			}
		}
	}
}

// quits presses q until it ends: one that comes too soon after others is ignored.
func (x *terminal) quits() {
	x.Helper()
	for late := time.After(clitest.InTime); ; {
		x.press("q")
		select {
		case <-x.over:
			return
		case <-time.After(3 * keyburst.Pause):
		case <-late:
			require.FailNow(x, "q does not end it", "%q", x.raw())
		}
	}
}

// leaves waits for its end.
func (x *terminal) leaves() int {
	x.Helper()
	done := make(chan error, 1)
	go func() { done <- x.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(clitest.InTime):
		require.FailNow(x, "it does not end", "%q", x.raw())
	}
	<-x.over
	return x.cmd.ProcessState.ExitCode()
}

// D6, D9, D10, and Must show 6 of what agents write: the inbox on a real
// terminal, live, with answers by keys.
func TestInboxOnATerminal(t *testing.T) {
	b, socket, _ := clitest.ServedBroker(t)
	evil := "\x1b]0;evil\x07\x1b[31mred"
	colour := regexp.MustCompile(`\x1b\[[0-9;]*3[0-7]m`)
	for i, env := range []string{"NO_COLOR=yes", "NO_COLOR="} {
		x := onTerminal(t, []string{"PINFOLD_SOCKET=" + socket, "TERM=xterm-256color", env}, "requests", "--watch")
		x.sees("Nothing waits for your answer.")

		first := clitest.Asks(t, b, fmt.Sprintf("version = 2%d", i), "the release needs it"+evil)
		x.sees("+const version = 2" + strconv.Itoa(i))
		x.sees("-const version = 1")
		x.sees(`"the release needs it\x1b]0;evil\a\x1b[31mred"`)
		x.sees(`hired for "raise the version"`)
		x.sees("a approve…  d deny…")
		x.chooses("a", "Approve for kid: fs.write 'src/a.go', by edit_file: this one call")
		x.sees("ctrl+o approves")
		x.press("\x0f")
		r := clitest.Ended(t, b, first.ID)
		require.Equal(t, broker.Approved, r.Status)
		require.Equal(t, broker.Once, r.Scope)
		x.sees("Approved edit_file for kid (once)")

		second := clitest.Asks(t, b, fmt.Sprintf("version = 3%d", i), "once more")
		x.sees("+const version = 3" + strconv.Itoa(i))
		x.sees("a approve…  d deny…")
		x.chooses("d", "Why not?")
		x.press("not in this release\r")
		x.sees("not denied yet")
		x.press("\x18")
		r = clitest.Ended(t, b, second.ID)
		require.Equal(t, broker.Denied, r.Status)
		require.Equal(t, "not in this release", r.DenyReason)

		x.sees("Nothing waits for your answer.")
		x.quits()
		require.Equal(t, cli.ExitOK, x.leaves())
		require.NotContains(t, x.raw(), "\x1b]0;")
		require.NotContains(t, x.raw(), "\a")
		require.Contains(t, x.raw(), "\x1b[?1049l", "the screen is given back")
		require.Equal(t, env == "NO_COLOR=", colour.MatchString(x.raw()), "colours: %s", env)
	}
}

// The operator, for whom nothing is set, has all brokers in one inbox. Whoever
// ends it by a signal gets the screen back too.
func TestInboxIsTerminated(t *testing.T) {
	b, socket, _ := clitest.ServedBroker(t)
	state := filepath.Dir(filepath.Dir(filepath.Dir(socket)))
	x := onTerminal(t, []string{"PINFOLD_SOCKET=", "PINFOLD_URL=", "XDG_STATE_HOME=" + state, "TERM=xterm"}, "requests", "--watch")
	x.sees("Nothing waits for your answer.")
	r := clitest.Asks(t, b, "version = 2", "why")
	x.sees("a approve…  d deny…")
	x.chooses("a", "Approve for kid")
	x.sees("ctrl+o approves")
	x.press("p")
	x.sees("as often as it likes")
	x.sees("ctrl+o approves")
	x.press("\x0f")
	require.Equal(t, broker.Path, clitest.Ended(t, b, r.ID).Scope)
	require.NoError(t, x.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, cli.ExitSignal+int(syscall.SIGINT), x.leaves())
	require.Contains(t, x.raw(), "\x1b[?1049l")
}
