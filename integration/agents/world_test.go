package agents

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/agents/model"
)

// Secrets that a session must not see. Each is said once, in the file or variable
// that it is the secret of.
const (
	hiddenSecret = "canary-of-a-hidden-file"
	keySecret    = "canary-of-a-key"
	envSecret    = "canary-of-a-variable"
)

// world is what an agent finds: a project with a repository, and a home.
type world struct {
	uid     int
	project string
	home    string // the user's own
	kept    string // the agent's, inside
}

func newWorld(t *testing.T, uid int) *world {
	dir, err := os.MkdirTemp(arena, "w-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	w := &world{uid: uid, project: dir + "/home/demo", home: dir + "/home", kept: dir + "/kept"}
	for name, content := range map[string]string{
		"home/.ssh/id_ed25519":     keySecret + "\n",
		"home/.bashrc":             "# mine\n",
		"home/demo/README.md":      "Hello\n",
		"home/demo/Makefile":       "all:\n",
		"home/demo/.env":           "TOKEN=" + hiddenSecret + "\n",
		"home/demo/src/greet.txt":  "good morning\n",
		"home/demo/src/haystack.c": "int needle;\n",
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

func (w *world) write(t *testing.T, path, content string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

// own gives the user all of a tree.
func (w *world) own(t *testing.T, dir string) {
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

// way is a way to start an agent.
type way struct {
	name string
	// home is where the agent's settings go.
	home func(*world) string
	// command is what starts the agent's command with the variables that it needs.
	command func(w *world, env, command []string) []string
}

// ways are native, as a control, and with the flags of docs/agents.md.
var ways = []way{
	{
		name: "native",
		home: func(w *world) string { return w.home },
		command: func(_ *world, env, command []string) []string {
			return append(append([]string{"/usr/bin/env"}, env...), command...)
		},
	},
	{
		name: "inside",
		home: func(w *world) string { return w.kept },
		command: func(w *world, env, command []string) []string {
			args := []string{pinfold, "run", "-C", w.project, "--git", "-w", "src", "--hide", "**/.env", "--ro", installed, "--home", w.kept}
			for _, e := range env {
				args = append(args, "--env", e)
			}
			return append(append(args, "--"), command...)
		},
	},
}

// session runs an agent with a task and a model that plays a script, until the agent
// ends, and returns what the model was told.
func session(t *testing.T, w *world, a agent, by way, script []model.Call) (*model.Server, []model.Result) {
	m := a.model(t, script)
	at := strings.NewReplacer("$URL", m.URL(), "$PROJECT", w.project)
	for name, content := range a.settings {
		w.write(t, by.home(w)+"/"+name, at.Replace(content))
	}
	w.own(t, by.home(w))
	env := append([]string(nil), a.env...)
	for i := range env {
		env[i] = at.Replace(env[i])
	}
	argv := by.command(w, env, append(append([]string{filepath.Join(installed, "node_modules/.bin", a.name)}, a.args...), "Do what the script says."))
	cmd := asUser(w.uid, argv...)
	cmd.Dir = w.project
	cmd.Env = []string{
		"PATH=" + installed + "/node_modules/.bin:/usr/local/bin:/usr/bin:/bin", "HOME=" + w.home, "LANG=C.UTF-8", "TERM=dumb",
		"AWS_SECRET_ACCESS_KEY=" + envSecret,
	}
	// Nothing in here is to take minutes; a machine may be very busy.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	stop()
	results, played := m.Results()
	require.NoError(t, played, "%s\n%v: %v\n%s", cmd, err, ctx.Err(), said.Bytes())
	require.NoError(t, err, "%s\n%s", cmd, said.Bytes())
	require.Contains(t, said.String(), model.Farewell)
	return m, results
}
