package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gitWork is what an agent does in a checkout. The exit code of each line is
// printed.
var gitWork = []string{
	"echo a > a && git add a",
	"git commit -m a",
	"git commit --amend -m b",
	"echo c >> a && git stash",
	"git stash pop",
	"git commit -am c",
	"git tag mark",
	"git checkout -b new",
	"echo n > n && git add n && git commit -m n",
	"git checkout -",
	"git cherry-pick new",
	"git -c sequence.editor='sed -i 2s/pick/fixup/' rebase -i HEAD~2",
	"git fetch up",
	"git merge --no-edit up/ahead",
	"git gc",
	"git maintenance run",
	"git worktree add -b more sub/more && cd sub/more && git commit --allow-empty -m more",
	"git update-ref -d refs/tags/mark",
	"git fsck",
	"git status --porcelain",
}

// gitWorkBare is what an agent does in a bare repository, beside gitWork in a
// work tree that it adds there.
var gitWorkBare = []string{
	"git worktree add -b agent tree",
	"git fetch up '+refs/heads/*:refs/heads/up/*'",
	"git branch fresh agent",
	"git branch -f fresh main",
	"git update-ref refs/heads/fresh agent main",
	"git update-ref -d refs/heads/free",
	"git tag -a -m annotated v1 agent",
	"git symbolic-ref HEAD refs/heads/up/main",
	"git clone . clone && cd clone && git commit --allow-empty -m pushed && git push origin HEAD:pushed",
	"git pack-refs --all",
	"git repack -a -d",
	"git gc",
	"git fsck",
	"git worktree add --detach gone && git worktree remove gone",
	"git log --all --oneline",
}

// gitWorkHusky is what shows that husky's hooks run.
var gitWorkHusky = []string{
	"echo h > h && git add h && git commit -m 'with a hook'",
	"echo ' bad ' > bad && git add bad && ! git commit -m 'the hook refuses it' && git rm -q --cached bad && rm bad",
	"! git commit --allow-empty -m 'wip: the other hook refuses it'",
	"git commit --allow-empty --no-verify -m 'wip: not asked'",
	"git rebase -x true HEAD~1",
}

// gitKinds are kinds of checkouts, and what is done in each.
func gitKinds() map[string][]string {
	kinds := map[string][]string{"husky": append(gitWorkHusky[:len(gitWorkHusky):len(gitWorkHusky)], gitWork...)}
	for _, kind := range []string{"clone", "worktree", "worktree of a bare", "submodule", "separate"} {
		kinds[kind] = gitWork
	}
	kinds["bare"] = gitWorkBare[:1:1]
	for _, line := range gitWork {
		kinds["bare"] = append(kinds["bare"], "cd tree && "+line)
	}
	kinds["bare"] = append(kinds["bare"], gitWorkBare[1:]...)
	return kinds
}

// addHusky has husky, as it comes from npm, run two hooks of the project.
func addHusky(t *testing.T, s *site) {
	t.Helper()
	from := checkoutParts(t) + "/sources/node_modules/husky"
	require.NoError(t, os.MkdirAll(s.root+"/node_modules", 0o755))
	runToEnd(t, exec.Command("cp", "-r", from, s.root+"/node_modules/husky"))
	require.NoError(t, os.Mkdir(s.root+"/.husky", 0o755))
	for name, text := range map[string]string{
		"package.json":      `{"name": "x", "scripts": {"prepare": "husky"}, "devDependencies": {"husky": "9"}}` + "\n",
		".gitignore":        "node_modules\n",
		".husky/pre-commit": "echo 'the hook ran'\ngit diff --cached --check\n",
		".husky/commit-msg": "! grep -q ^wip \"$1\"\n",
	} {
		require.NoError(t, os.WriteFile(s.root+"/"+name, []byte(text), 0o644))
	}
	s.own()
	runToEnd(t, gitOutside(t, s, "node node_modules/husky/bin.js && git add . && git commit -q -m husky"))
	require.Equal(t, ".husky/_", gitIn(t, s, s.root, "config", "core.hooksPath"))
}

// gitToday are dates of commits. git gc expires what old logs say, but inside not
// the logs of other work trees; so that logs can be compared all happens today.
var gitToday = func() []string {
	now := time.Now().UTC().Format(time.RFC3339)
	return []string{"GIT_AUTHOR_DATE=" + now, "GIT_COMMITTER_DATE=" + now}
}()

// TestGitWorks: what an agent does with git in each kind of checkout has the
// same effect inside, and git says the same.
func TestGitWorks(t *testing.T) {
	kinds := gitKinds()
	today := "export TERM=dumb " + strings.Join(gitToday, " ") + "\n"
	gitUsers(t, func(t *testing.T, run runSurface) {
		for _, kind := range sorted(kinds) {
			t.Run(kind, func(t *testing.T) {
				work := kinds[kind]
				s, dir := gitCheckout(t, run.uid, kind)
				got := gitWorked(t, s, dir, gitInside(s, today+gitScript(work)), work)
				o, oDir := gitCheckout(t, run.uid, kind)
				want := gitWorked(t, o, oDir, gitOutside(t, o, today+gitScript(work)), work)
				for _, what := range sorted(want) {
					assert.Equal(t, strings.ReplaceAll(want[what], o.base, s.base), got[what], what)
				}
				if kind == "husky" {
					require.GreaterOrEqual(t, strings.Count(got["output"], "the hook ran"), 5, got["output"])
				}
				gitRow(t, run, fmt.Sprintf("--git in a %s: %d lines of git", kind, len(work)), "work", "same refs, logs, objects, status, output")
			})
		}
	})
}

// gitWorked runs a script of git and says what came of it.
func gitWorked(t *testing.T, s *site, dir string, cmd *exec.Cmd, work []string) map[string]string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	codes := gitCodes(t, string(out))
	require.Len(t, codes, len(work), "%s", out)
	for i, line := range work {
		assert.Equal(t, "0", codes[fmt.Sprint(i)], "%s\n%s", line, out)
	}
	tree := s.root
	if dir == tree {
		tree += "/tree"
	}
	return map[string]string{
		"output":  string(out),
		"refs":    gitIn(t, s, s.root, "for-each-ref"),
		"history": gitIn(t, s, s.root, "log", "--all", "--format=%H %P %s"),
		"stash":   gitIn(t, s, tree, "stash", "list"),
		"objects": gitIn(t, s, s.root, "cat-file", "--batch-all-objects", "--batch-check"),
		"status":  gitIn(t, s, tree, "status", "--porcelain"),
		"trees":   gitIn(t, s, s.root, "worktree", "list"),
		"logs":    gitLogs(t, dir),
	}
}

// gitLogs is what the logs of all refs say, also of work trees.
func gitLogs(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.Contains(path, "/logs/") {
			return err
		}
		text, err := os.ReadFile(path)
		// A message that is empty is sometimes written with the tab before it.
		fmt.Fprintf(&b, "%s:\n%s", strings.TrimPrefix(path, dir), strings.ReplaceAll(string(text), "\t\n", "\n"))
		return err
	}))
	return b.String()
}

// TestGitKeepsConfig: where git would note which branch a new one follows, it goes on
// without, and the configuration stays as it is.
func TestGitKeepsConfig(t *testing.T) {
	lines := []string{
		"git fetch -q up",
		"git checkout -b one up/ahead",
		"git switch -c two --track up/free",
		"git switch -c three up/ahead",
		"git commit --allow-empty -m on",
	}
	gitUsers(t, func(t *testing.T, run runSurface) {
		for _, kind := range []string{"clone", "worktree", "submodule", "bare"} {
			s, dir := gitCheckout(t, run.uid, kind)
			config, err := os.ReadFile(dir + "/config")
			require.NoError(t, err)
			work := lines
			if kind == "bare" {
				work = []string{"git worktree add tree other2", "cd tree && " + strings.Join(lines, " && ")}
				gitIn(t, s, s.root, "branch", "other2")
			}
			out, err := gitInside(s, gitScript(work)).CombinedOutput()
			require.NoError(t, err, "%s", out)
			codes := gitCodes(t, string(out))
			for i, line := range work {
				assert.Equal(t, "0", codes[fmt.Sprint(i)], "%s: %s\n%s", kind, line, out)
			}
			require.Contains(t, string(out), "config: Read-only file system")
			require.Equal(t, "on", gitIn(t, s, s.root, "log", "-1", "--format=%s", "three"))
			after, err := os.ReadFile(dir + "/config")
			require.NoError(t, err)
			require.Equal(t, string(config), string(after), kind)
			require.NoFileExists(t, dir+"/config.lock")
			gitRow(t, run, "a branch that follows another, in a "+kind, "work", "the configuration stays")
		}
	})
}
