package agents

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/agents/model"
)

// Secrets that a session must not see. Each is said once, in the file or variable
// that it is the secret of.
const (
	hiddenSecret = "canary-of-a-hidden-file"
	keySecret    = "canary-of-a-key"
	fileSecret   = "canary-of-another-tool"
	envSecret    = "canary-of-a-variable"
	otherSecret  = "canary-of-another-agent"
)

// world is what an agent finds: a project with a repository, and a home.
type world struct {
	uid     int
	project string
	home    string // the user's own
	kept    string // the agent's, with flags
	before  []string
}

func newWorld(t testing.TB, uid int) *world {
	dir, err := os.MkdirTemp(arena, "w-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	w := &world{uid: uid, project: dir + "/home/demo", home: dir + "/home", kept: dir + "/kept"}
	for name, content := range map[string]string{
		"home/.ssh/id_ed25519":      keySecret + "\n",
		"home/.bashrc":              "# mine\n",
		"home/.gitconfig":           "[core]\n\tabbrev = 12\n",
		"home/.aws/credentials":     fileSecret + "\n",
		"home/.config/gh/hosts.yml": fileSecret + "\n",
		"home/.docker/config.json":  fileSecret + "\n",
		"home/.git-credentials":     fileSecret + "\n",
		"home/.netrc":               fileSecret + "\n",
		"home/.npmrc":               fileSecret + "\n",
		"home/demo/README.md":       "Hello\n",
		"home/demo/Makefile":        "all:\n",
		"home/demo/.env":            "TOKEN=" + hiddenSecret + "\n",
		"home/demo/src/greet.txt":   "good morning\n",
		"home/demo/src/haystack.c":  "int needle;\n",
	} {
		w.write(t, dir+"/"+name, content)
	}
	require.NoError(t, os.MkdirAll(w.kept, 0o700))
	git := exec.Command("sh", "-c", `set -e
		git init -q -b main; git config user.name me; git config user.email me@example.com
		git add README.md Makefile src; git commit -qm begin`)
	git.Dir = w.project
	git.Env = append(os.Environ(), "HOME="+w.home, "GIT_CONFIG_NOSYSTEM=1")
	out, err := git.CombinedOutput()
	require.NoError(t, err, "%s", out)
	w.own(t, dir)
	return w
}

func (w *world) write(t testing.TB, path, content string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

// own gives the user all of a tree.
func (w *world) own(t testing.TB, dir string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, w.uid, w.uid)
	}))
}

// holds says that a file of the world has a text in it.
func (w *world) holds(path, text string) bool {
	data, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(data), text)
}

// keepsNothingOfOthers holds that what an agent keeps has none of the secrets, and
// that nothing else in its user's home is new or changed.
func (w *world) keepsNothingOfOthers(t testing.TB, kept string) {
	require.NoError(t, filepath.WalkDir(kept, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, secret := range []string{hiddenSecret, keySecret, fileSecret, envSecret, otherSecret} {
			assert.NotContains(t, string(data), secret, path)
		}
		return err
	}))
	assert.Equal(t, w.before, w.listing(t))
}

// listing are the files of the user's home but for the project's and pinfold's own.
func (w *world) listing(t testing.TB) []string {
	var files []string
	require.NoError(t, filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == w.project, d.IsDir() && d.Name() == "pinfold":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		data, err := os.ReadFile(path)
		files = append(files, path+": "+string(data))
		return err
	}))
	return files
}

// way is a way to start an agent.
type way struct {
	name   string
	grants func(where) bool
	users  func() []int
	// home is where the agent's settings go.
	home func(*world, agent) string
	// command starts the agent with arguments and with the variables that it needs,
	// of which quiet is a part.
	command func(w *world, a agent, env, args []string) []string
}

// ways are native, as a control; inside, with flags as docs/agents.md has them for an
// agent without a profile; and by one word. Without PINFOLD_LONG the first two are
// tried by one user each.
var ways = []way{
	{
		name:   "native",
		grants: func(in where) bool { return in != inside },
		users:  func() []int { return some(users()[:1]) },
		home:   func(w *world, _ agent) string { return w.home },
		command: func(_ *world, a agent, env, args []string) []string {
			return slices.Concat([]string{"/usr/bin/env"}, env, []string{a.name}, a.open, args)
		},
	},
	{
		name:   "flags",
		grants: func(in where) bool { return in == everywhere || in == inside },
		users:  func() []int { return some(users()[len(users())-1:]) },
		home:   func(w *world, _ agent) string { return w.kept },
		command: func(w *world, a agent, env, args []string) []string {
			argv := []string{pinfold, "run", "--git", "-w", "src", "--hide", "**/.env", "--ro", installed, "--ro", w.home + "/.gitconfig", "--home", w.kept}
			for _, e := range env {
				argv = append(argv, "--env", e)
			}
			return slices.Concat(argv, []string{"--", a.name}, a.open, args)
		},
	},
	word,
}

// word is `pinfold claude` and its like.
var word = way{
	name:   "word",
	grants: func(in where) bool { return in != natively },
	users:  users,
	home:   func(w *world, a agent) string { return w.home + "/.local/share/pinfold/homes/" + a.name },
	command: func(_ *world, a agent, env, args []string) []string {
		argv := slices.Concat([]string{"/usr/bin/env"}, env, []string{pinfold, a.name})
		for _, name := range a.quiet {
			argv = append(argv, "--env", name)
		}
		return append(append(argv, "--"), args...)
	},
}

// some are a few users, or all where there is time.
func some(few []int) []int {
	if os.Getenv("PINFOLD_LONG") != "" {
		return users()
	}
	return few
}

// started is an agent with arguments, to be started.
func (w *world) started(a agent, by way, env []string, args ...string) *exec.Cmd {
	cmd := asUser(w.uid, by.command(w, a, env, args)...)
	cmd.Dir = w.project
	cmd.Env = []string{
		"PATH=" + installed + "/node_modules/.bin:/usr/local/bin:/usr/bin:/bin", "HOME=" + w.home, "LANG=C.UTF-8", "TERM=dumb",
		"AWS_SECRET_ACCESS_KEY=" + envSecret, "GITHUB_TOKEN=" + envSecret, "NPM_TOKEN=" + envSecret,
	}
	for _, name := range a.foreign {
		cmd.Env = append(cmd.Env, name+"="+otherSecret)
	}
	return cmd
}

// settle writes the agent's settings into its home and returns the variables that it
// needs to reach its model.
func (w *world) settle(t testing.TB, a agent, by way, m *model.Server) (env []string) {
	at := strings.NewReplacer("$URL", m.URL(), "$PROJECT", w.project)
	for name, content := range a.settings {
		w.write(t, by.home(w, a)+"/"+name, at.Replace(content))
	}
	w.own(t, w.home)
	w.own(t, w.kept)
	w.before = w.listing(t)
	for _, e := range a.env {
		env = append(env, at.Replace(e))
	}
	return env
}

// session runs an agent until it ends, and returns what its model was told.
func session(t testing.TB, cmd *exec.Cmd, m *model.Server) []model.Result {
	said, err := ended(t, cmd)
	results, played := m.Results()
	require.NoError(t, played, "%s\n%v\n%s", cmd, err, said)
	require.NoError(t, err, "%s\n%s", cmd, said)
	require.Contains(t, said, model.Farewell)
	return results
}

// ended waits for a program. Nothing in here is to take minutes, but a machine may be
// very busy.
func ended(t testing.TB, cmd *exec.Cmd) (said string, err error) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	err = cmd.Wait()
	return out.String(), errors.Join(err, ctx.Err())
}
