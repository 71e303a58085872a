package integration

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// aftermath is something that an agent leaves in a project, and that acts when the
// operator goes on there with git or another program, outside, as every day.
//
// In scripts and operations $ROOT is the project, $OUT a directory beside it with a
// file "victim", $RAN the name of a file there that must not come into being, $EVIL
// a program that makes it, and $EVILTEXT that program's text. A line "again" begins
// another session, which knows nothing of the one before.
type aftermath struct {
	key    string // of testdata/operator.txt
	policy []string
	before string // what the operator has: a shell script, in a new repository with src/a and a program src/prog
	attack string // what the agent does, in the same place, where it has a shell
	ops    string // and where it has operations only, one a line
	api    string // by the Go API, where that has more of them
	lacks  string // why some surfaces have no such operations
	after  string // what the operator does, a shell script; "" is the battery
}

// battery is what the operator does next. Each command has its time: one that
// waits for ever has been acted upon. Where nothing guards it some do, and less time
// shows that.
const battery = `
echo "# the prompt"
bash -c '. /usr/lib/git-core/git-sh-prompt; __git_ps1 "" ""; : "${PS1@P}"' </dev/null
for c in "status" "diff" "log --oneline -1" "fetch -q origin" "add src/a" "commit -qm later" "commit -q --amend --no-edit" "stash -q" "stash pop -q" \
	"checkout -q ." "checkout -q -b another" "rebase --continue" "rebase -q HEAD~1" "cherry-pick HEAD~1" "cherry-pick --abort" "gc -q" "submodule status" "worktree list" "worktree repair" "cat-file --batch-all-objects --batch-check"; do
	echo "# git $c"
	timeout --foreground $PATIENCE git $c </dev/null
	[ $? != 124 ] || { echo "it does not end"; touch $RAN; exit; }
done
for d in src src/mine src/wt src/sub; do [ ! -d $d ] || (cd $d && timeout --foreground $PATIENCE git status </dev/null; timeout --foreground $PATIENCE git gc -q </dev/null); done
true`

// TestAttackAftermath: nothing that the agent has left, on whatever surface, runs
// or makes the operator's programs write or read a file beyond the project. Without
// the guard each of it does.
func TestAttackAftermath(t *testing.T) {
	for _, a := range aftermaths {
		for _, user := range users() {
			t.Run(a.key+"/"+user.name, func(t *testing.T) {
				t.Parallel()
				acts := map[string]bool{} // attacks that have been seen to act
				for _, l := range leavers {
					attack, surface := l.does(a), surfaceOf(l.name, user.uid)
					if attack == "" {
						require.NotEmpty(t, a.lacks)
						tableNone(t, a.key, surface, a.lacks)
						continue
					}
					t.Run(l.name, func(t *testing.T) {
						guarded := newAftermath(t, user.uid, a)
						for _, session := range sessions(attack) {
							l.guarded(t, guarded, session)
						}
						require.Equal(t, attack != a.attack, guarded.refused, "operations say by which rule they are refused")
						require.Empty(t, guarded.battery(t), "a program of the host did what the agent wanted")
						if !acts[attack] {
							control := newAftermath(t, user.uid, a)
							control.patience = 5
							for _, session := range sessions(attack) {
								l.unguarded(t, control, session)
							}
							require.NotEmpty(t, control.battery(t), "the attack does nothing where nobody stops it")
							acts[attack] = true
						}
						tableRow(t, a.key, surface)
					})
				}
			})
		}
	}
}

// user is one that attacks are tried as.
type user struct {
	name string
	uid  int
}

// users are those that can be had by whoever runs the tests.
func users() []user {
	if isRoot {
		return []user{{"root", 0}, {"user", nobody}}
	}
	return []user{{"user", os.Geteuid()}}
}

// aftermathScene is a project with a repository, and what lies beside it.
type aftermathScene struct {
	*site
	a       aftermath
	home    string
	refused bool // an operation was refused by a rule

	patience int // seconds that a command of the battery has; 0 is enough for a busy machine
}

// evilText is a program that says in out that it ran.
func evilText(out string) string { return "#!/bin/sh\ntouch " + out + "/ran\ncat\n" }

func newAftermath(t *testing.T, uid int, a aftermath) *aftermathScene {
	t.Helper()
	s := &aftermathScene{site: newSite(t, uid, true), a: a, home: tempDir(t, uid)}
	out := s.base + "/out"
	require.NoError(t, os.Mkdir(out, 0o755))
	require.NoError(t, os.Mkdir(s.root+"/src", 0o755))
	for name, text := range map[string]string{
		out + "/victim": "victim", out + "/evil": evilText(out), out + "/index.b64": craftedIndex,
		s.root + "/src/a": "a\n", s.root + "/src/prog": "#!/bin/sh\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o755))
	}
	s.own()
	script := "set -eu\ngit init -q -b main .\ngit add src\ngit commit -qm first\n" + a.before
	if out, err := s.command("sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", a.before, err, out)
	}
	require.NoFileExists(t, out+"/ran", "nothing has run yet")
	return s
}

func (s *aftermathScene) vars() []string {
	out := s.base + "/out"
	return append([]string{"ROOT=" + s.root, "OUT=" + out, "RAN=" + out + "/ran", "EVIL=" + out + "/evil", "INDEXFILE=" + out + "/index.b64"}, workEnv...)
}

// command is one of the operator's.
func (s *aftermathScene) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.root
	cmd.Env = append([]string{"HOME=" + s.home, fmt.Sprint("PATIENCE=", cmp.Or(s.patience, 20))}, s.vars()...)
	cmd.SysProcAttr = credential(s.uid)
	cmd.WaitDelay = time.Minute
	return cmd
}

// battery says what happened beyond the project while the operator worked.
func (s *aftermathScene) battery(t *testing.T) (acted []string) {
	t.Helper()
	out, waited := s.operator(t)
	if waited {
		acted = append(acted, "git waits for the other end of a FIFO")
	}
	if _, err := os.Stat(s.base + "/out/ran"); err == nil {
		acted = append(acted, "a program ran")
	}
	text, err := os.ReadFile(s.base + "/out/victim")
	require.NoError(t, err)
	if string(text) != "victim" {
		acted = append(acted, "a file beyond the project was written")
	}
	if _, err := os.Stat(s.root + "/.git/hooks/post-checkout"); err == nil {
		acted = append(acted, "a hook was written")
	}
	if _, err := os.Lstat(s.base + "/out/home/.git"); err == nil {
		acted = append(acted, "a file beyond the project was made")
	}
	if s.a.key == "git-alternates" && strings.Contains(out, " blob 7\n") {
		acted = append(acted, "objects beyond the project were read")
	}
	refs, _ := filepath.Glob(s.root + "/.git/refs/remotes/o/*")
	packed, _ := os.ReadFile(s.root + "/.git/packed-refs")
	if len(refs) > 0 || strings.Contains(string(packed), "refs/remotes/o/") {
		acted = append(acted, "a repository beyond the project was read")
	}
	return acted
}

// operator runs the operator's commands. It ends at once where git waits for somebody to read
// the file that it writes messages to, which would be for ever.
func (s *aftermathScene) operator(t *testing.T) (out string, waited bool) {
	t.Helper()
	var text strings.Builder
	cmd := s.command("sh", "-c", cmp.Or(s.a.after, battery))
	cmd.Stdout, cmd.Stderr = &text, &text
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	require.NoError(t, cmd.Start())
	waits := whoWrites(s.root+"/.git/COMMIT_EDITMSG", func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err := cmd.Wait()
	t.Logf("the operator: %v\n%s", err, text.String())
	return text.String(), waits()
}

// whoWrites calls found once somebody writes to a FIFO. What it returns ends that,
// and says whether somebody did.
func whoWrites(name string, found func()) (end func() bool) {
	info, err := os.Lstat(name)
	if err != nil || info.Mode().Type() != os.ModeNamedPipe {
		return func() bool { return false }
	}
	var ended atomic.Bool
	opened := make(chan bool)
	go func() { // it waits until the other end is opened, too
		f, err := os.Open(name)
		if did := err == nil && !ended.Load(); did {
			found()
			opened <- true
		} else {
			opened <- false
		}
		_ = f.Close()
	}()
	return func() bool {
		ended.Store(true)
		if f, err := os.OpenFile(name, os.O_RDWR, 0); err == nil {
			defer f.Close()
		}
		return <-opened
	}
}

// craftedIndex names src/a, a hook, and a file beyond the project.
const craftedIndex = "RElSQwAAAAIAAAADAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACB7QAAAAAAAAAAAAAAAHiYGSJhOyr7YCUEL/a9h4rBmU6FAA0u" +
	"Li9vdXQvdmljdGltAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIHtAAAAAAAAAAAAAAAAeJgZImE7KvtgJQQv9r2HisGZ" +
	"ToUAGC5naXQvaG9va3MvcG9zdC1jaGVja291dAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACB7QAAAAAAAAAAAAAAAHiYGSJh" +
	"Oyr7YCUEL/a9h4rBmU6FAAVzcmMvYQAAAAAA6Zsr67Efo6vgX01LK4QmQc7g3Js="
