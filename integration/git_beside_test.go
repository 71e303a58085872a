package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/cases"
)

// A checkout whose git directory lies outside of the project: a linked
// worktree, a submodule, a clone with a separate git directory.

// gitScript is a script that runs lines one by one and prints how each ends.
func gitScript(lines []string) string {
	var b strings.Builder
	b.WriteString("exec 2>&1; export GIT_EDITOR=true\n")
	for i, line := range lines {
		fmt.Fprintf(&b, "( %s )\necho \"line %d: $?\"\n", line, i)
	}
	return b.String()
}

var gitLine = regexp.MustCompile(`(?m)^line (\d+): (\d+)$`)

// gitCodes are the exit codes that a script printed, by line.
func gitCodes(t *testing.T, out string) map[string]string {
	t.Helper()
	codes := map[string]string{}
	for _, m := range gitLine.FindAllStringSubmatch(out, -1) {
		codes[m[1]] = m[2]
	}
	return codes
}

// gitCheckout makes base/root a checkout of a kind and returns the git directory
// that --git opens. base/up.git is a remote that is ahead.
func gitCheckout(t *testing.T, uid int, kind string) (s *site, dir string) {
	t.Helper()
	s = newSite(t, uid, true)
	s.own()
	git := func(at string, args ...string) {
		cmd := gitCommand(t, s, at, append([]string{"-c", "protocol.file.allow=always"}, args...)...)
		cmd.Env = append(cmd.Env, gitToday...)
		runToEnd(t, cmd)
	}
	main := s.base + "/main"
	git(s.base, "init", "-q", "-b", "main", main)
	require.NoError(t, os.WriteFile(main+"/secret", []byte("SECRET\n"), 0o644))
	git(main, "add", "secret")
	git(main, "commit", "-q", "-m", "first")
	git(main, "branch", "packed/deep")
	git(main, "pack-refs", "--all")
	git(main, "branch", "free")
	git(main, "tag", "v0")
	git(s.base, "clone", "-q", "--bare", main, "up.git")
	git(s.base, "clone", "-q", "up.git", "ahead")
	git(s.base+"/ahead", "checkout", "-q", "-b", "ahead")
	git(s.base+"/ahead", "commit", "-q", "--allow-empty", "-m", "ahead")
	git(s.base+"/ahead", "push", "-q", "origin", "ahead")
	git(main, "remote", "add", "up", s.base+"/up.git")
	switch kind {
	case "clone", "husky":
		git(s.base, "clone", "-q", "up.git", s.root)
		git(s.root, "remote", "add", "up", s.base+"/up.git")
		if kind == "husky" {
			addHusky(t, s)
		}
		return s, s.root + "/.git"
	case "worktree of a bare":
		git(s.base, "clone", "-q", "--bare", "up.git", "bare.git")
		git(s.base+"/bare.git", "remote", "add", "up", s.base+"/up.git")
		git(s.base+"/bare.git", "worktree", "add", "-q", "-b", "topic", s.root)
		require.NoDirExists(t, s.base+"/bare.git/logs")
		return s, s.base + "/bare.git"
	case "bare":
		git(s.base, "clone", "-q", "--bare", "up.git", s.root)
		git(s.root, "remote", "add", "up", s.base+"/up.git")
		git(s.root, "worktree", "add", "-q", "-b", "other", s.base+"/other")
		return s, s.root
	case "worktree":
		git(main, "worktree", "add", "-q", "-b", "topic", s.root)
		git(main, "worktree", "add", "-q", "-b", "other", s.base+"/other")
		return s, main + "/.git"
	case "submodule":
		git(s.base, "init", "-q", "-b", "main", s.root+"-of")
		git(s.root+"-of", "submodule", "-q", "add", s.base+"/up.git", "lib")
		s.root += "-of/lib"
		git(s.root, "remote", "add", "up", s.base+"/up.git")
		return s, filepath.Dir(s.root) + "/.git/modules/lib"
	}
	sep := s.base + "/sep.git"
	git(s.base, "clone", "-q", "--separate-git-dir", sep, "up.git", s.root)
	git(s.root, "remote", "add", "up", s.base+"/up.git")
	git(s.base, "--git-dir", sep, "config", "core.worktree", s.root)
	return s, sep
}

// gitInside is `pinfold run --git` over the checkout.
func gitInside(s *site, script string, flags ...string) *exec.Cmd {
	policy := append([]string{"--git", "-w", ".", "--ro", s.base + "/up.git"}, flags...)
	for _, v := range workEnv {
		policy = append(policy, "--env", v)
	}
	return pinfoldRun(s, s.uid, modes[0], policy, "sh", "-c", script)
}

// gitOutside is the same without the guard.
func gitOutside(t *testing.T, s *site, script string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = s.root
	cmd.Env = append([]string{"HOME=" + tempDir(t, s.uid)}, workEnv...)
	cmd.SysProcAttr = credential(s.uid)
	return cmd
}

// gitUsers runs a test for each user that `pinfold run` is run as.
func gitUsers(t *testing.T, test func(t *testing.T, run runSurface)) {
	for _, s := range surfaces {
		if run, ok := s.(runSurface); ok {
			t.Run(run.name, func(t *testing.T) { test(t, run) })
		}
	}
}

func gitRow(t *testing.T, run runSurface, what, verdict, control string) {
	t.Helper()
	fmt.Printf("[table] git beside  %-9s %-58s %-8s %s\n", run.name, what, verdict, control)
}

// gitAttack is something that would change what others have in the repository,
// or leave what their git stumbles over. @ is the git directory, N the name of
// the worktree's own. Outside each succeeds.
type gitAttack struct{ name, script string }

var gitAttacks = []gitAttack{
	{"the configuration", "echo '# x' >> @/config"},
	{"a hook", "echo true > @/hooks/pre-commit"},
	{"main by git", "git update-ref refs/heads/main HEAD"},
	{"main by its file", "cp @/refs/heads/topic @/refs/heads/main"},
	{"another branch by git", "git branch -f free HEAD"},
	{"another branch's end", "git update-ref -d refs/heads/free"},
	{"another's tag", "git tag -f v0 HEAD"},
	{"a packed branch", "git update-ref refs/heads/packed/deep HEAD"},
	{"a directory over packed branches", "mkdir -p @/objects/d && cp @/refs/heads/topic @/objects/d/deep && rm -rf @/refs/heads/packed && mv @/objects/d @/refs/heads/packed"},
	{"another's reflog", "echo x >> @/logs/refs/heads/main"},
	{"packed-refs", "cp @/packed-refs @/objects/p && cat @/objects/p > @/packed-refs"},
	{"packed-refs by git", "git pack-refs --all"},
	{"packed-refs moved in", "cp @/packed-refs @/objects/p && mv @/objects/p @/packed-refs"},
	{"another worktree's HEAD", "echo 'ref: refs/heads/other' > @/worktrees/other/HEAD"},
	{"another worktree's index", "cp @/worktrees/other/index @/objects/i && mv @/objects/i @/worktrees/other/index"},
	{"the main work tree's HEAD", "echo 'ref: refs/heads/main' > @/HEAD"},
	{"the main work tree's index", "cp @/index @/objects/i && mv @/objects/i @/index"},
	{"attributes", "mkdir -p @/info && echo '* text' > @/info/attributes"},
	{"what leads back here", "cp @/worktrees/N/gitdir @/objects/g && mv @/objects/g @/worktrees/N/gitdir"},
	{"where the rest is", "echo ../.. > @/worktrees/N/commondir"},
	{"configuration of its own", "echo > @/worktrees/N/config.worktree"},
	{"all refs moved away", "mv @/refs @/refs2 && mv @/refs2 @/refs"},
	{"all branches moved away", "mv @/refs/heads @/h && mv @/h @/refs/heads"},
	{"another worktree moved away", "mv @/worktrees/other @/worktrees/o && mv @/worktrees/o @/worktrees/other"},
	{"its own directory moved away", "mv @/worktrees/N @/worktrees/o && mv @/worktrees/o @/worktrees/N"},
	{"a link at a name that git writes", "ln -s /etc/passwd @/worktrees/N/MERGE_MSG"},
	{"a link among the refs", "ln -s main @/refs/heads/alias && rm @/refs/heads/alias"},
	{"a FIFO at a name that git reads", "mkfifo @/worktrees/N/FETCH_HEAD"},
	{"a second name for main", "ln @/logs/refs/heads/main @/logs/refs/heads/alias"},
	{"what lies around the git directory", "cat @/../secret"},
	{"another's directory, by git", "rm @/worktrees/N/MERGE_MSG @/worktrees/N/FETCH_HEAD; git worktree remove --force \"$(dirname @)/../other\""},
	{"a replaced object", "git update-ref refs/replace/$(git rev-parse main) $(git rev-parse v0~0)"},
	{"alternates", "echo /nowhere > @/objects/info/alternates"},
}

// TestGitBesideAttacks: nothing of these changes the repository that others
// share, nor runs anything in it later.
func TestGitBesideAttacks(t *testing.T) {
	gitUsers(t, func(t *testing.T, run runSurface) {
		s, dir := gitCheckout(t, run.uid, "worktree")
		var lines []string
		for _, a := range gitAttacks {
			lines = append(lines, strings.NewReplacer("@", dir, "worktrees/N", "worktrees/root").Replace(a.script))
		}
		lines = append(lines, "ls -A "+filepath.Dir(dir))
		gitIn(t, s, s.root, "commit", "-q", "--allow-empty", "-m", "ahead of main")
		before := gitShared(t, dir)
		out, err := gitInside(s, gitScript(lines)).CombinedOutput()
		require.NoError(t, err, "%s", out)
		codes := gitCodes(t, string(out))
		require.Equal(t, "0", codes[fmt.Sprint(len(gitAttacks))])
		require.Contains(t, string(out), "\n.git\nline", "nothing else of the main work tree is there")
		require.Empty(t, before.Diff(gitShared(t, dir)), "something got through:\n%s", out)

		// The operator goes on as ever, and an agent too.
		gitIn(t, s, s.base+"/main", "status")
		gitIn(t, s, s.base+"/main", "commit", "-q", "--allow-empty", "-m", "on main")
		gitIn(t, s, s.base+"/main", "worktree", "list")
		gitIn(t, s, s.root, "commit", "-q", "--allow-empty", "-m", "on topic")
		gitIn(t, s, s.base+"/main", "fsck")

		out, err = gitOutside(t, s, gitScript(lines)).CombinedOutput()
		require.NoError(t, err)
		control := gitCodes(t, string(out))
		for i, a := range gitAttacks {
			nth := fmt.Sprint(i)
			assert.NotEqual(t, "0", codes[nth], "%s: %s", a.name, lines[i])
			assert.Equal(t, "0", control[nth], "without the guard: %s: %s\n%s", a.name, lines[i], out)
			gitRow(t, run, a.name, "refused", "succeeds without")
		}
	})
}

// gitShared is the git directory but for objects and the worktree's own.
func gitShared(t *testing.T, dir string) cases.Snapshot {
	t.Helper()
	snap, err := cases.Take(dir)
	require.NoError(t, err)
	for key := range snap {
		name := strings.TrimPrefix(key, "../")
		if strings.HasPrefix(name, "objects/") && name != "objects/info/alternates" || strings.HasPrefix(name, "worktrees/root/") {
			delete(snap, key)
		}
	}
	return snap
}

// TestGitBesideTwice: two agents, each in a worktree of one repository.
func TestGitBesideTwice(t *testing.T) {
	const commits = 10
	gitUsers(t, func(t *testing.T, run runSurface) {
		s, dir := gitCheckout(t, run.uid, "worktree")
		one, two := *s, *s
		two.root = s.base + "/other"
		var wg sync.WaitGroup
		var out [2][]byte
		var errs [2]error
		for i, at := range []*site{&one, &two} {
			wg.Go(func() {
				script := fmt.Sprintf("set -e; for i in $(seq %d); do echo $i > f%d; git add .; git commit -q -m $i; git branch agent%d-$i; done", commits, i, i)
				out[i], errs[i] = gitInside(at, script).CombinedOutput()
			})
		}
		wg.Wait()
		for i, branch := range []string{"topic", "other"} {
			require.NoError(t, errs[i], "%s", out[i])
			require.Equal(t, fmt.Sprint(commits), gitIn(t, s, s.base+"/main", "rev-list", "--count", "main.."+branch))
			require.Equal(t, fmt.Sprint(commits), fmt.Sprint(strings.Count(gitIn(t, s, s.base+"/main", "branch", "--list", fmt.Sprintf("agent%d-*", i)), "agent")))
		}
		gitIn(t, s, s.base+"/main", "fsck")
		require.DirExists(t, dir+"/worktrees/other")
		gitRow(t, run, fmt.Sprintf("two agents, two worktrees, %d commits each", commits), "work", "")
	})
}

// TestGitBesideForged: a checkout that the repository does not name opens
// nothing of it, and the command does not run.
func TestGitBesideForged(t *testing.T) {
	gitUsers(t, func(t *testing.T, run runSurface) {
		s, dir := gitCheckout(t, run.uid, "worktree")
		forged := *s
		forged.root = s.root + "/sub" // where an earlier agent could make it
		require.NoError(t, os.Mkdir(forged.root, 0o755))
		for _, names := range []string{dir + "/worktrees/root", dir + "/worktrees/other", dir, s.base + "/up.git"} {
			require.NoError(t, os.WriteFile(forged.root+"/.git", []byte("gitdir: "+names+"\n"), 0o644))
			s.own()
			out, err := gitInside(&forged, "echo ran").CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "%s", out)
			require.Equal(t, 125, exit.ExitCode(), "%s", out)
			require.NotContains(t, string(out), "ran")
			require.Contains(t, string(out), forged.root)
			require.Contains(t, string(out), names)
		}
		out, err := gitInside(s, "git status -sb").CombinedOutput()
		require.NoError(t, err, "the checkout that it names: %s", out)
		require.Contains(t, string(out), "## topic")
		gitRow(t, run, "a forged .git file", "refused", "the real one opens")
	})
}

// TestGitBesideIsSaid: `why` knows the git directory inside and outside, and so
// does the report.
func TestGitBesideIsSaid(t *testing.T) {
	gitUsers(t, func(t *testing.T, run runSurface) {
		s, dir := gitCheckout(t, run.uid, "worktree")
		report := tempDir(t, run.uid) + "/report"
		out, err := gitInside(s, "/run/pinfold/bin/pinfold why "+dir+"/refs/heads/main; echo why: $?; /run/pinfold/bin/pinfold why "+dir+"/refs/heads/topic; echo why: $?; rm -f "+dir+"/config || true", "--report", report).CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "write refused (protected): 'refs/heads/main' was there before")
		require.Contains(t, string(out), "why: 1\n")
		require.Contains(t, string(out), "why: 0\n")
		text, err := os.ReadFile(report)
		require.NoError(t, err)
		require.Contains(t, string(text), `"path":"`+dir+`/config"`)

		cmd := asUser(run.uid, modes[0], pinfold, "why", "-C", s.root, "--git", dir+"/refs/heads/main")
		out, err = cmd.CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "'refs/heads/main' was there before")

		// The report is not one that the command can write.
		out, err = gitInside(s, "true", "--report", dir+"/objects/report").CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "lies beneath a write path")
		require.NoFileExists(t, dir+"/objects/report")
	})
}
