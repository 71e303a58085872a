package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shell is a bash with job control in tmux, as an operator has it.
type shell struct {
	t       *testing.T
	program string
	socket  string
	root    string // of the site
	uid     int
	lines   int
}

func newShell(t *testing.T, s *site) *shell {
	t.Helper()
	program, err := exec.LookPath("tmux")
	require.NoError(t, err)
	sh := &shell{t: t, program: program, socket: filepath.Join(s.base, "tmux"), root: s.root, uid: s.uid}
	s.own()
	sh.tmux("-f", "/dev/null", "new-session", "-d", "-x", "150", "-y", "50", "-c", s.root,
		"env", "-u", "PROMPT_COMMAND", "PS1=> ", "HOME="+s.base, "HISTFILE=/dev/null", "bash", "--norc", "--noprofile")
	pid := strings.TrimSpace(sh.tmux("display-message", "-p", "#{pane_pid}"))
	t.Cleanup(func() {
		sh.tmux("kill-server")
		require.Eventually(t, func() bool { return !exists("/proc/" + pid) }, eventually, 20*time.Millisecond)
	})
	return sh
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// tmux returns what a command of tmux says.
func (sh *shell) tmux(args ...string) string {
	sh.t.Helper()
	cmd := asUser(sh.uid, modes[0], append([]string{sh.program, "-S", sh.socket}, args...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(sh.t, err, "%s: %s", cmd, out)
	return string(out)
}

func (sh *shell) screen() string { return sh.tmux("capture-pane", "-p", "-J") }

// typed types a line and Enter.
func (sh *shell) typed(line string) {
	sh.t.Helper()
	sh.tmux("send-keys", "-l", line)
	sh.tmux("send-keys", "Enter")
}

// fresh has the shell show nothing but its prompt.
func (sh *shell) fresh() {
	sh.t.Helper()
	sh.lines++
	sh.typed(fmt.Sprintf("PS1='%d> '; clear", sh.lines))
	sh.wait(fmt.Sprintf("%d> \n", sh.lines))
}

// line has the shell run a line on a fresh screen, and waits until that shows
// the text.
func (sh *shell) line(line, until string) {
	sh.t.Helper()
	sh.fresh()
	sh.typed(line)
	sh.wait(until)
}

func (sh *shell) wait(until string) {
	sh.t.Helper()
	shown := ""
	for end := time.Now().Add(eventually); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if shown = sh.screen(); strings.Contains(shown, until) {
			return
		}
	}
	require.Contains(sh.t, shown, until, "the screen in the end")
}

// quoted is text as one word of the shell.
func quoted(words ...string) string {
	for i, w := range words {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}

// stoppers stop all that they may, and do not end when asked to.
var stoppers = map[string]string{
	"SIGSTOP":                 "trap '' TERM; kill -STOP 0; while :; do :; done",
	"SIGSTOP to all":          "trap '' TERM; kill -STOP -1; kill -STOP 0; while :; do :; done",
	"SIGTSTP":                 "trap '' TERM; kill -TSTP 0; while :; do :; done",
	"SIGTTIN":                 "trap '' TERM; kill -TTIN 0; while :; do :; done",
	"SIGTTOU":                 "trap '' TERM; kill -TTOU 0; while :; do :; done",
	"reads in the background": "trap '' TERM; set -m; (read x </dev/tty) & (stty tostop; echo x >/dev/tty) & kill -STOP 0; while :; do :; done",
}

// A deadline holds whatever the command does to itself: timeout(1) runs in the
// process group that would be stopped with it. Each stopper has a shell of its own: it
// is waited for most of the time.
func TestStopsStayInside(t *testing.T) {
	for _, s := range surfaces {
		run, ok := s.(runSurface)
		if !ok {
			continue
		}
		ends := func(sh *shell, what string, words ...string) {
			begin := time.Now()
			command := append([]string{pinfold, "run", "-q", "-C", sh.root}, words...)
			sh.line("timeout 1 "+quoted(command...)+"; echo r''c=$?", "rc=124")
			fmt.Printf("[table] O05 %-12s timeout 1 pinfold run ends after %.1f s: %s\n", run.name, time.Since(begin).Seconds(), what)
		}
		t.Run(run.name, func(t *testing.T) {
			t.Run("stop", func(t *testing.T) { // returns when the parallel ones are done
				for _, name := range sorted(stoppers) {
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						sh := newShell(t, newSite(t, run.uid, true))
						ends(sh, name, "--", "bash", "-c", stoppers[name])
						if name == "SIGSTOP to all" {
							return // outside that is everything that the user has
						}
						// Without the guard it lives on after its deadline, as does timeout.
						sh.line("timeout 1 "+quoted("bash", "-c", stoppers[name])+" & sleep 2; kill -0 $! && echo a''live", "alive")
						sh.line("kill -KILL -$!; wait; echo o''ver", "over")
					})
				}
			})
			tableRow(t, "stop", run.name)

			// As many processes as it can make.
			sh := newShell(t, newSite(t, run.uid, true))
			storm := "trap '' TERM; f() { f | f & }; f 2>/dev/null; while :; do :; done"
			ends(sh, "as many processes as it can make", "--pids", "400", "--", "bash", "-c", storm)
			sh.line("timeout 1 bash -c 'trap \"\" TERM; while :; do :; done' & sleep 2; kill -0 $! && echo a''live", "alive")
			sh.line("kill -KILL -$!; wait; echo o''ver", "over")
			tableRow(t, "deaf", run.name)
		})
	}
}

// Ctrl-Z, fg and bg are as for any other program.
func TestJobControlInShell(t *testing.T) {
	for _, s := range surfaces {
		run, ok := s.(runSurface)
		if !ok {
			continue
		}
		t.Run(run.name, func(t *testing.T) {
			s := newSite(t, run.uid, true)
			sh := newShell(t, s)
			sh.line(""+quoted(pinfold, "run", "-q", "-C", s.root, "--", "bash", "-c", "echo rea''dy; while ! read -t 0.1 x; do :; done; echo got:$x; exit 6"), "ready")
			sh.tmux("send-keys", "C-z")
			sh.wait("Stopped")
			sh.line("bg; jobs", "Running")
			sh.fresh()
			sh.typed("fg; echo st''opped")
			sh.wait("pinfold")
			sh.tmux("send-keys", "C-z")
			sh.wait("stopped")
			sh.fresh()
			sh.typed("fg; echo r''c=$?")
			sh.wait("pinfold")
			sh.typed("word")
			sh.wait("rc=6")
		})
	}
}

// leftBehind turns on what a terminal has, and asks it what it will answer only
// when nobody but the shell is left to read it.
const leftBehind = `printf 'before\n\033[?1049h\033[?1h\033=\033[4h\033[?6h\033[2;5r\033[?7l\033[?25l\033[?1003h\033[?1006h\033[?1004h\033[?2004h\033[8;31m\033(0\033[5 q\033]8;;http://x\033\\\033]4;1;rgb:00/00/00\033\\'; printf '\033[c\033[6n\033[5n\033]0;unfinished'`

// terminalState is what tmux says of it.
const terminalState = "#{alternate_on} #{cursor_flag} #{insert_flag} #{keypad_cursor_flag} #{keypad_flag} #{mouse_any_flag} " +
	"#{mouse_sgr_flag} #{origin_flag} #{scroll_region_upper} #{scroll_region_lower} #{wrap_flag}"

// The terminal is afterwards as it was before, and nothing is typed on it.
func TestTerminalIsPutBack(t *testing.T) {
	for _, s := range surfaces {
		run, ok := s.(runSurface)
		if !ok {
			continue
		}
		t.Run(run.name, func(t *testing.T) {
			s := newSite(t, run.uid, true)
			sh := newShell(t, s)
			sh.fresh()
			state := func() string { return sh.tmux("display-message", "-p", terminalState) }
			// A line by a shell that reads what comes, as a whole: plain text, and no
			// answer in it.
			shown := func() string {
				sh.typed("echo g''o; cat >typed; cat -v typed; echo le''tters")
				sh.wait("\ngo\n") // the shell edits lines no more
				sh.typed("word")
				sh.tmux("send-keys", "C-d")
				sh.wait("letters")
				text := sh.tmux("capture-pane", "-p", "-e", "-J")
				return text[strings.LastIndex(text, "echo le''tters") : strings.LastIndex(text, "> ")-1]
			}
			before, plain := state(), shown()
			sh.fresh()
			sh.typed(quoted(pinfold, "run", "-q", "-C", s.root, "--", "bash", "-c", leftBehind) + "; stty -a | grep -o -- '-*icanon'; echo d''one")
			sh.wait("done")
			require.Equal(t, before, state())
			require.Contains(t, sh.screen(), "before")
			require.Contains(t, sh.screen(), "\nicanon")
			require.Equal(t, plain, shown())
			// Without the guard it stays as it was left.
			sh.fresh()
			sh.typed(quoted("bash", "-c", leftBehind) + "; touch over")
			require.Eventually(t, func() bool {
				_, err := os.Stat(s.root + "/over")
				return err == nil
			}, eventually, 20*time.Millisecond)
			require.NotEqual(t, before, state())
			tableRow(t, "terminal", run.name)
			fmt.Printf("[table] O06 %-12s tmux: %q before and after\n", run.name, strings.TrimSpace(before))
		})
	}
}
