package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// aftermath is something that an agent leaves in a project, and that acts when the
// operator goes on with git there, outside, as every day.
type aftermath struct {
	name   string
	policy []string
	before string // what the operator has: a shell script, in a new repository with src/a in it
	attack string // what the agent does, in the same place
	row    func(t *testing.T, surface string)
}

// Inside, $OUT is a directory beside the project with a file "victim", $RAN the
// name of a file there that must not come into being, and $EVIL a program that
// makes it.
var aftermaths = []aftermath{
	{name: "link", policy: []string{"--git", "-w", "src"},
		attack: `ln -sf $OUT/victim .git/COMMIT_EDITMSG; ln -sf $OUT/victim .git/ORIG_HEAD; ln -sf $OUT/victim .git/FETCH_HEAD`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-link", s) }},
	{name: "link-moved", policy: []string{"--git", "-w", "."},
		attack: `ln -s $OUT/victim src/l; mv -f src/l .git/COMMIT_EDITMSG`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-link-moved", s) }},
	{name: "link-in-directory", policy: []string{"-w", "."},
		attack: `mkdir src/d; ln -s $OUT/victim src/d/HEAD; rm -rf .git/logs; mv src/d .git/logs`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-link-directory", s) }},
	{name: "fifo", policy: []string{"--git", "-w", "src"},
		attack: `rm -f .git/COMMIT_EDITMSG; mkfifo .git/COMMIT_EDITMSG`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-fifo", s) }},
	{name: "hard-link", policy: []string{"-w", "."},
		before: `ln $OUT/victim src/h`,
		attack: `mv -f src/h .git/COMMIT_EDITMSG`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-hard-link", s) }},
	{name: "hooks-path", policy: []string{"-w", "."},
		before: `git config core.hooksPath tools/hooks; mkdir -p tools/hooks`,
		attack: `cp $EVIL tools/hooks/post-commit; cp $EVIL tools/hooks/pre-commit`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-hooks-path", s) }},
	{name: "hooks-link", policy: []string{"-w", "."},
		before: `rm -rf .git/hooks; mkdir shared; ln -s ../shared .git/hooks`,
		attack: `cp $EVIL shared/post-commit`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-hooks-link", s) }},
	{name: "include", policy: []string{"-w", "src"},
		before: `git config include.path ../src/git.inc`,
		attack: `printf '[core]\n\tfsmonitor = %s\n' $EVIL >src/git.inc`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-include", s) }},
	{name: "filter", policy: []string{"-w", "."},
		before: `mkdir tools; printf '#!/bin/sh\ncat\n' >tools/f.sh; chmod +x tools/f.sh; git config filter.f.clean tools/f.sh; echo '* filter=f' >.gitattributes`,
		attack: `cp $EVIL tools/f.sh; echo more >>src/a`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-filter", s) }},
	{name: "gitfile", policy: []string{"-w", "meta"},
		before: `mkdir meta; mv .git meta/store; echo 'gitdir: meta/store' >.git`,
		attack: `git config -f meta/store/config core.fsmonitor $EVIL`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-file", s) }},
	{name: "nested", policy: []string{"-w", "."},
		before: `git init -q src/deep/repo; git -C src/deep/repo commit -q --allow-empty -m x; git add src/deep/repo; git commit -qm nested`,
		attack: `git -C src/deep/repo config core.fsmonitor $EVIL; mkdir -p src/deep/repo/.git/hooks; cp $EVIL src/deep/repo/.git/hooks/post-index-change`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-nested", s) }},
	{name: "own-repository", policy: []string{"--git", "-w", "src"},
		attack: `git init -q src/mine; cd src/mine; git commit -q --allow-empty -m x; git config core.fsmonitor $EVIL; printf '[core]\n\tfsmonitor = %s\n' $EVIL >>.git/config; cp $EVIL .git/hooks/post-index-change; cd ../..; git add src/mine`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-own", s) }},
	{name: "own-link", policy: []string{"--git", "-w", "src"},
		before: `git init -q $OUT/other; git -C $OUT/other config core.fsmonitor $EVIL; git -C $OUT/other commit -q --allow-empty -m x; rm -f $RAN`,
		attack: `mkdir src/mine; echo "gitdir: $OUT/other/.git" >src/mine/.git; git add -f src/mine`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-own-file", s) }},
	{name: "bare", policy: []string{"-w", "."},
		attack: `mkdir -p src/objects/info src/refs/heads src/hooks; echo $PWD/.git/objects >src/objects/info/alternates; git rev-parse HEAD >src/refs/heads/m; cp $EVIL src/hooks/reference-transaction; echo 'ref: refs/heads/m' >src/HEAD`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-bare", s) }},
	{name: "rebase", policy: []string{"-w", "."},
		before: `echo b >src/a; git commit -qam b; GIT_SEQUENCE_EDITOR='sed -i s/pick/edit/' git rebase -q -i HEAD~1 2>/dev/null || true`,
		attack: `printf 'exec %s\n' $EVIL >>.git/rebase-merge/git-rebase-todo`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-rebase", s) }},
	{name: "alternates", policy: []string{"--git", "-w", "src"},
		before: `git init -q $OUT/other; echo secret >$OUT/other/s; git -C $OUT/other add s; git -C $OUT/other commit -qm s; rm -f $RAN`,
		attack: `echo $OUT/other/.git/objects >.git/objects/info/alternates`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-alternates", s) }},
	{name: "index", policy: []string{"--git", "-w", "src"},
		attack: `base64 -d >src/i <"$INDEXFILE"; cp src/i .git/index.lock; mv -f .git/index.lock .git/index; cp src/i .git/index`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-index", s) }},
	{name: "remotes", policy: []string{"--git", "-w", "src"},
		before: `git init -q $OUT/other; git -C $OUT/other commit -q --allow-empty -m x; rm -f $RAN`,
		attack: `mkdir -p .git/remotes; printf 'URL: %s\nPull: refs/heads/*:refs/remotes/o/*\n' $OUT/other >.git/remotes/origin`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-remotes", s) }},
	{name: "worktree", policy: []string{"--git", "-w", "src"},
		before: `git init -q $OUT/other; git -C $OUT/other config core.fsmonitor $EVIL; rm -f $RAN`,
		attack: `git worktree add -q src/wt; echo $OUT/other/.git >.git/worktrees/wt/commondir; git config -f .git/worktrees/wt/config.worktree core.fsmonitor $EVIL; git config extensions.worktreeConfig true`,
		row:    func(t *testing.T, s string) { tableRow(t, "git-worktree", s) }},
}

// battery is what the operator does next. Each command has its time: one that
// waits for a FIFO has been acted upon.
const battery = `
for c in "status" "diff" "log --oneline -1" "fetch -q origin" "add src/a" "commit -qm later" "commit -q --amend --no-edit" "stash -q" "stash pop -q" \
	"checkout -q ." "checkout -q -b another" "rebase --continue" "rebase -q HEAD~1" "cherry-pick HEAD~1" "cherry-pick --abort" "gc -q" "submodule status" "worktree list" "cat-file --batch-all-objects --batch-check"; do
	echo "# git $c"
	timeout 20 git $c </dev/null
	[ $? != 124 ] || { touch $RAN; exit; }
done
for d in src src/mine src/wt; do [ ! -d $d ] || (cd $d && timeout 20 git status </dev/null; timeout 20 git gc -q </dev/null); done
true`

// TestAttackAftermath: nothing that the agent has left runs, or makes the
// operator's git write or read a file beyond the project. Without the guard each
// of it does.
func TestAttackAftermath(t *testing.T) {
	for _, s := range surfaces {
		run, ok := s.(runSurface)
		if !ok {
			continue
		}
		for _, a := range aftermaths {
			t.Run(a.name+"/"+run.name, func(t *testing.T) {
				guarded := newAftermath(t, run.uid, a)
				guarded.inside(t)
				require.Empty(t, guarded.battery(t), "git on the host did what the agent wanted")
				control := newAftermath(t, run.uid, a)
				control.outside(t)
				require.NotEmpty(t, control.battery(t), "the attack does nothing where nobody stops it")
				a.row(t, run.name)
			})
		}
	}
}

// aftermathScene is a project with a repository, and what lies beside it.
type aftermathScene struct {
	*site
	a    aftermath
	home string
}

func newAftermath(t *testing.T, uid int, a aftermath) *aftermathScene {
	t.Helper()
	s := &aftermathScene{site: newSite(t, uid, true), a: a, home: tempDir(t, uid)}
	out := s.base + "/out"
	require.NoError(t, os.Mkdir(out, 0o755))
	require.NoError(t, os.Mkdir(s.root+"/src", 0o755))
	for name, text := range map[string]string{
		out + "/victim": "victim", out + "/evil": "#!/bin/sh\ntouch " + out + "/ran\ncat\n", s.root + "/src/a": "a\n",
		s.root + "/attack.sh": a.attack, s.root + "/before.sh": "set -eu\n" + a.before, s.root + "/battery.sh": battery,
		out + "/index.b64": craftedIndex,
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o755))
	}
	s.own()
	s.git(t, "init", "-q", "-b", "main", ".")
	s.git(t, "add", "src")
	s.git(t, "commit", "-qm", "first")
	if out, err := s.shell("before.sh"); err != nil {
		t.Fatalf("%s: %v\n%s", a.before, err, out)
	}
	s.own()
	return s
}

func (s *aftermathScene) vars() []string {
	out := s.base + "/out"
	return append([]string{"OUT=" + out, "RAN=" + out + "/ran", "EVIL=" + out + "/evil", "INDEXFILE=" + out + "/index.b64"}, workEnv...)
}

func (s *aftermathScene) git(t *testing.T, args ...string) {
	t.Helper()
	out, err := s.command("git", args...).CombinedOutput()
	require.NoError(t, err, "%s: %s", args, out)
}

// command is one of the operator's.
func (s *aftermathScene) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.root
	cmd.Env = append([]string{"HOME=" + s.home}, s.vars()...)
	cmd.SysProcAttr = credential(s.uid)
	cmd.WaitDelay = time.Minute
	return cmd
}

func (s *aftermathScene) shell(script string) (string, error) {
	out, err := s.command("sh", script).CombinedOutput()
	return string(out), err
}

// inside has the agent do it in a run, where most of it fails.
func (s *aftermathScene) inside(t *testing.T) {
	t.Helper()
	policy := append([]string{"--ro", s.base + "/out"}, s.a.policy...)
	for _, kv := range s.vars() {
		policy = append(policy, "--env", kv)
	}
	out, err := pinfoldRun(s.site, s.uid, modes[0], policy, "sh", "-c", "cd "+s.root+"; set +e; . ./attack.sh; true").CombinedOutput()
	t.Logf("inside: %v\n%s", err, out)
	require.NoError(t, err)
}

func (s *aftermathScene) outside(t *testing.T) {
	t.Helper()
	out, _ := s.shell("attack.sh")
	t.Log("outside: " + out)
}

// battery says what happened beyond the project while the operator worked.
func (s *aftermathScene) battery(t *testing.T) (acted []string) {
	t.Helper()
	out, err := s.shell("battery.sh")
	t.Logf("the operator: %v\n%s", err, out)
	if _, err := os.Stat(s.base + "/out/ran"); err == nil {
		acted = append(acted, "a program ran, or git waits for ever")
	}
	text, err := os.ReadFile(s.base + "/out/victim")
	require.NoError(t, err)
	if string(text) != "victim" {
		acted = append(acted, "a file beyond the project was written")
	}
	if _, err := os.Stat(s.root + "/.git/hooks/post-checkout"); err == nil {
		acted = append(acted, "a hook was written")
	}
	if s.a.name == "alternates" && strings.Contains(out, " blob 7\n") {
		acted = append(acted, "objects beyond the project were read")
	}
	refs, _ := filepath.Glob(s.root + "/.git/refs/remotes/o/*")
	packed, _ := os.ReadFile(s.root + "/.git/packed-refs")
	if len(refs) > 0 || strings.Contains(string(packed), "refs/remotes/o/") {
		acted = append(acted, "a repository beyond the project was read")
	}
	return acted
}

// craftedIndex names src/a, a hook, and a file beyond the project.
const craftedIndex = "RElSQwAAAAIAAAADAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACB7QAAAAAAAAAAAAAAAHiYGSJhOyr7YCUEL/a9h4rBmU6FAA0u" +
	"Li9vdXQvdmljdGltAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIHtAAAAAAAAAAAAAAAAeJgZImE7KvtgJQQv9r2HisGZ" +
	"ToUAGC5naXQvaG9va3MvcG9zdC1jaGVja291dAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACB7QAAAAAAAAAAAAAAAHiYGSJh" +
	"Oyr7YCUEL/a9h4rBmU6FAAVzcmMvYQAAAAAA6Zsr67Efo6vgX01LK4QmQc7g3Js="
