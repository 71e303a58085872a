package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/agents/model"
)

// pane is a program on a terminal in tmux.
type pane struct {
	t      *testing.T
	w      *world
	socket string
}

// newPane starts a program on a terminal.
func newPane(t *testing.T, w *world, cmd *exec.Cmd) *pane {
	p := &pane{t: t, w: w, socket: filepath.Join(w.kept, "tmux")}
	at := len(cmd.Args) - 1
	for i, arg := range cmd.Args {
		if arg == "/usr/bin/env" {
			at = i
			break
		}
	}
	start := asUser(w.uid, append([]string{
		"/usr/bin/tmux", "-S", p.socket, "-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", "-c", w.project,
		";", "set-option", "-g", "remain-on-exit", "on", ";", "respawn-pane", "-k", "-c", w.project, "--",
	}, cmd.Args[at:]...)...)
	start.Env, start.Dir = append(cmd.Env, "SHELL=/bin/bash"), cmd.Dir // or it is that of an account without one
	out, err := start.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() { p.tmux("kill-server") })
	return p
}

// tmux returns what a command of tmux says.
func (p *pane) tmux(args ...string) string {
	out, err := asUser(p.w.uid, append([]string{"/usr/bin/tmux", "-S", p.socket}, args...)...).CombinedOutput()
	require.NoError(p.t, err, "%s", out)
	return string(out)
}

// screen is what is shown now.
func (p *pane) screen() string { return p.tmux("capture-pane", "-p", "-J") }

// until waits for a screen, or for the program's end.
func (p *pane) until(what string, is func(screen string) bool) {
	p.t.Helper()
	shown := ""
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if shown = p.screen(); is(shown) {
			return
		}
	}
	require.Fail(p.t, "the screen does not show "+what, shown)
}

func (p *pane) shows(text string) {
	p.t.Helper()
	p.until(text, func(screen string) bool {
		require.False(p.t, p.left(), screen)
		return strings.Contains(screen, text)
	})
}

// left says that the program has ended.
func (p *pane) left() bool {
	return strings.HasPrefix(p.tmux("display-message", "-p", "#{pane_dead}"), "1")
}

// TestAgentsOnTerminal holds that an agent that is started by its word draws itself,
// takes what is typed, draws itself anew for another size, answers, and leaves at
// Ctrl-C.
func TestAgentsOnTerminal(t *testing.T) {
	for _, a := range quick() {
		for _, uid := range some(users()[len(users())-1:]) {
			t.Run(fmt.Sprintf("%s-%s", a.name, person(uid)), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, uid)
				m := a.model(t, a.tools.read(w.project+"/src/greet.txt"))
				env := append(w.settle(t, a, word, m), "TERM=screen-256color")
				p := newPane(t, w, w.started(a, word, env))
				p.shows(a.drawn)
				p.tmux("send-keys", "-l", "typed by hand")
				p.shows("typed by hand")
				p.tmux("resize-window", "-x", "90", "-y", "30")
				p.shows("typed by hand")
				p.tmux("send-keys", "Enter")
				p.shows(model.Farewell)
				results, err := m.Results()
				require.NoError(t, err)
				require.Contains(t, results[0].Text, "good morning")
				p.leave()
			})
		}
	}
}

// leave leaves the agent by Ctrl-C.
func (p *pane) leave() {
	p.t.Helper()
	var told time.Time
	p.until("that it has left", func(string) bool {
		if !p.left() && time.Since(told) > 2*time.Second {
			p.tmux("send-keys", "C-c", "C-c") // most want to be told twice, at once
			told = time.Now()
		}
		return p.left()
	})
}

// TestAgentsInterrupted holds that Ctrl-C in the middle of a command gives the terminal
// back to the agent's user, and that nothing of the command is left once the agent is.
func TestAgentsInterrupted(t *testing.T) {
	for i, a := range quick() {
		for _, uid := range users() {
			t.Run(fmt.Sprintf("%s-%s", a.name, person(uid)), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, uid)
				forever := fmt.Sprintf("8%d%d", i, 100_000+uid) // seconds, as no other program sleeps
				m := a.model(t, a.tools.shell("touch src/begun; sleep "+forever+"; touch src/ended"))
				env := append(w.settle(t, a, word, m), "TERM=screen-256color")
				p := newPane(t, w, w.started(a, word, env, a.hands...))
				p.shows(a.drawn)
				p.tmux("send-keys", "-l", task)
				p.shows(task)
				p.tmux("send-keys", "Enter")
				p.until("a command at work", func(string) bool { return sleeps(t, forever) })
				require.FileExists(t, w.project+"/src/begun")
				p.tmux("send-keys", "C-c")
				p.until("that it can be typed to", func(screen string) bool {
					if !strings.Contains(screen, "go on") {
						p.tmux("send-keys", "-l", "go on")
					}
					return strings.Contains(screen, "go on")
				})
				require.False(t, p.left())
				p.leave()
				require.False(t, sleeps(t, forever))
				require.NoFileExists(t, w.project+"/src/ended")
			})
		}
	}
}

// sleeps reports whether a process sleeps for that many seconds.
func sleeps(t *testing.T, seconds string) bool {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	return slices.ContainsFunc(files, func(file string) bool {
		line, err := os.ReadFile(file)
		return err == nil && string(line) == "sleep\x00"+seconds+"\x00" // it may have ended
	})
}
