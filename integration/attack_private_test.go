package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func init() { attacks["on-stage"] = onStage }

// stage is a host of a test's own: a mount namespace in which directories and
// files stand in the place of the real ones.
type stage struct {
	Binds   [][2]string // from, onto
	Command []string
}

// stageVariable holds a stage as JSON for onStage.
const stageVariable = "PINFOLD_TEST_STAGE"

// onStage mounts what the stage says and becomes its command, without the rights
// that mounting takes.
func onStage() {
	var st stage
	must(json.Unmarshal([]byte(os.Getenv(stageVariable)), &st))
	must(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	for _, b := range st.Binds {
		must(unix.Mount(b[0], b[1], "", unix.MS_BIND, ""))
	}
	must(unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
	must(unix.Exec(st.Command[0], st.Command, os.Environ()))
}

// command is a program of uid on the stage, in the project of a site. An ordinary
// user who cannot mount does so in a user namespace, where they stay who they are.
func (st stage) command(t *testing.T, s *site, env []string, program ...string) *exec.Cmd {
	t.Helper()
	as := asUser(s.uid, modes[0], program...)
	st.Command = append([]string{as.Path}, as.Args[1:]...)
	spec, err := json.Marshal(st)
	require.NoError(t, err)
	cmd := exec.Command(insiderPath, "attack", "on-stage")
	cmd.Dir = s.root
	cmd.Env = append(append(os.Environ(), stageVariable+"="+string(spec)), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if !isRoot {
		own := []syscall.SysProcIDMap{{ContainerID: s.uid, HostID: s.uid, Size: 1}}
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = own
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	return cmd
}

// secret is what no attack may print.
const secret = "the-secret"

// printed is what a command prints on both streams, however it ends.
func printed(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return string(out)
}

// files makes files of a site's base, with all directories open to everybody.
func (s *site) files(texts map[string]string) {
	s.t.Helper()
	for name, text := range texts {
		at := filepath.Join(s.base, name)
		require.NoError(s.t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(s.t, os.WriteFile(at, []byte(text), 0o644))
	}
	s.own()
}

// readOverMCP is what cmd, a `pinfold mcp`, says when it is to read a file.
func readOverMCP(t *testing.T, cmd *exec.Cmd, path string) string {
	t.Helper()
	session, err := connect(t, cmd, false)
	if err != nil {
		return err.Error()
	}
	text, err := callTool(session, "read_file", map[string]any{"path": path})
	if err != nil {
		return err.Error()
	}
	return text
}

// surfaceOf is the name of a surface in the table.
func surfaceOf(name string, uid int) string {
	if uid == 0 {
		return name + "-root"
	}
	return name + "-user"
}

// onEachRun runs a test as each user inside `pinfold run`.
func onEachRun(t *testing.T, key string, test func(t *testing.T, uid int)) {
	for _, surface := range surfaces {
		if run, ok := surface.(runSurface); ok {
			if t.Run(run.name, func(t *testing.T) { test(t, run.uid) }) {
				tableRow(t, key, run.name)
			}
		}
	}
}

// TestAttackHomesInSystemDirectories: what the password file names is a home
// wherever it lies.
func TestAttackHomesInSystemDirectories(t *testing.T) {
	onEachRun(t, "home", func(t *testing.T, uid int) {
		s := newSite(t, uid, true)
		passwd, err := os.ReadFile("/etc/passwd")
		require.NoError(t, err)
		s.files(map[string]string{
			"opt/svc/.ssh/id": secret, "opt/svc/shown/file": "its-tool", "opt/tool/file": "the-tool", "opt/me/file": secret,
			"passwd": string(passwd) + "svc:x:4711:4711::/opt/svc:/bin/sh\nloop:x:4712:4712::/opt:/bin/sh\n",
		})
		st := stage{Binds: [][2]string{{s.base + "/opt", "/opt"}, {s.base + "/passwd", "/etc/passwd"}}}
		const look = "cat /opt/svc/.ssh/id /opt/svc/shown/file /opt/tool/file /opt/me/file; ls -A /opt/svc"
		run := func(flags ...string) string {
			args := append([]string{pinfold, "run", "-C", s.root}, flags...)
			return printed(t, st.command(t, s, []string{"HOME=/opt/me"}, append(args, "--", "sh", "-c", look)...))
		}
		out := run()
		assert.NotContains(t, out, secret)
		assert.NotContains(t, out, "its-tool")
		assert.Contains(t, out, "the-tool", "what is no home is shown")
		out = run("--ro", "/opt/svc/shown")
		assert.NotContains(t, out, secret)
		assert.Contains(t, out, "its-tool", "what is asked for is shown, and nothing beside it")
		assert.NotContains(t, run("--ro", "/opt"), secret, "a directory that is shown is no home by its own name")
		assert.Contains(t, run("--ro", "/opt/svc"), secret, "the home that is asked for is shown")
		out = printed(t, st.command(t, s, nil, "/bin/sh", "-c", look))
		assert.Equal(t, 2, strings.Count(out, secret), "without the guard: %s", out)
	})
}

// TestAttackProjectInAHome: a project that lies in such a home is there, and
// nothing else of the home is.
func TestAttackProjectInAHome(t *testing.T) {
	onEachRun(t, "home-project", func(t *testing.T, uid int) {
		s := newSite(t, uid, true)
		s.files(map[string]string{
			"opt/svc/.ssh/id": secret, "opt/svc/project/file": "project",
			"passwd": "svc:x:4711:4711::/opt/svc:/bin/sh\n",
		})
		st := stage{Binds: [][2]string{{s.base + "/opt", "/opt"}, {s.base + "/passwd", "/etc/passwd"}}}
		const look = "cat /opt/svc/.ssh/id; cat /opt/svc/project/file; echo new >/opt/svc/project/out/new; echo new >/opt/svc/new"
		require.NoError(t, os.Mkdir(s.base+"/opt/svc/project/out", 0o755))
		s.own()
		out := printed(t, st.command(t, s, []string{"HOME=/home/me"}, pinfold, "run", "-C", "/opt/svc/project", "-w", "out", "--", "sh", "-c", look))
		assert.NotContains(t, out, secret)
		assert.Contains(t, out, "project")
		assert.FileExists(t, s.base+"/opt/svc/project/out/new", out)
		assert.NoFileExists(t, s.base+"/opt/svc/new")
		assert.Contains(t, printed(t, st.command(t, s, nil, "/bin/sh", "-c", look)), secret, "without the guard")
	})
}

// TestAttackCredentials: the files that variables name are covered where something
// above them is shown.
func TestAttackCredentials(t *testing.T) {
	onEachRun(t, "credentials", func(t *testing.T, uid int) {
		s, home := homeSite(t, uid)
		s.files(map[string]string{
			"ro/aws/credentials": secret, "ro/kube/a": secret, "ro/kube/b": secret, "ro/other": "other",
			"home/.docker/config.json": secret, "ro/cargo/credentials.toml": secret, "ro/cargo/env": "cargo",
		})
		at := func(p string) string { return filepath.Join(s.base, p) }
		env := []string{
			"AWS_SHARED_CREDENTIALS_FILE=" + at("ro/aws/credentials"), "KUBECONFIG=" + at("ro/kube/a") + ":" + at("alias/kube/b"),
			"DOCKER_CONFIG=" + home + "/.docker", "CARGO_HOME=" + at("ro/cargo"), "HOME=/home/me",
		}
		require.NoError(t, os.Mkdir(at("alias"), 0o755))
		st := stage{Binds: [][2]string{{at("ro"), at("alias")}}}
		look := fmt.Sprintf("cat %[1]s/ro/aws/credentials %[1]s/ro/kube/* ~/.docker/config.json %[1]s/home/.docker/config.json; cat %[1]s/ro/other %[1]s/ro/cargo/*", s.base)
		run := func(env []string, flags ...string) string {
			args := append([]string{pinfold, "run", "-C", s.root, "--ro", at("ro"), "--home", home}, flags...)
			return printed(t, st.command(t, s, env, append(args, "--", "sh", "-c", look)...))
		}
		out := run(env)
		assert.NotContains(t, out, secret)
		assert.Contains(t, out, "other")
		assert.Contains(t, out, "cargo")
		assert.Equal(t, 5, strings.Count(run([]string{"HOME=/home/me"}), secret), "without the variables nothing is known of them")
		assert.Equal(t, 1, strings.Count(run(env, "--ro", at("ro/aws/credentials")), secret), "one that is asked for is shown")
		assert.Equal(t, 2, strings.Count(run(env, "--env", "KUBECONFIG"), secret), "so is one whose variable is passed on")
	})
}

// TestAttackOwnState: what pinfold keeps is seen on no surface, under whatever name.
func TestAttackOwnState(t *testing.T) {
	onEachRun(t, "state", func(t *testing.T, uid int) {
		s := newSite(t, uid, true)
		s.files(map[string]string{
			"root/state/pinfold/broker/db": secret, "root/file": "file", "house/.local/state/pinfold/broker/db": secret, "house/file": "house",
			"alias/.keep": "", "root/alias/.keep": "", "nowhere/.keep": "", "new/file": "new",
		})
		at := func(p string) string { return filepath.Join(s.base, p) }
		st := stage{Binds: [][2]string{{at("house"), at("alias")}, {at("root/state"), at("root/alias")}}}
		nowhere := "XDG_STATE_HOME=" + at("nowhere")
		for _, c := range []struct {
			name, state, script string
		}{
			{"ro", at("house/.local/state"), "%[1]s run -C %[2]s/root --ro %[2]s/house -- cat %[2]s/house/.local/state/pinfold/broker/db"},
			{"ro-deeper", at("house/.local/state"), "%[1]s run -C %[2]s/root --ro %[2]s/house/.local/state -- cat %[2]s/house/.local/state/pinfold/broker/db"},
			{"ro-itself", at("house/.local/state"), "%[1]s run -C %[2]s/root --ro %[2]s/house/.local/state/pinfold -- cat %[2]s/house/.local/state/pinfold/broker/db"},
			{"ro-bind-mount", at("house/.local/state"), "%[1]s run -C %[2]s/root --ro %[2]s/alias -- cat %[2]s/alias/.local/state/pinfold/broker/db"},
			{"home", at("house/.local/state"), "HOME=/home/me %[1]s run -C %[2]s/root --home %[2]s/house -- cat /home/me/.local/state/pinfold/broker/db"},
			{"home-bind-mount", at("alias/.local/state"), "HOME=/home/me %[1]s run -C %[2]s/root --home %[2]s/house -- cat /home/me/.local/state/pinfold/broker/db"},
			{"home-moved", at("house/.local/state"), "HOME=/home/me %[1]s run -C %[2]s/root --home %[2]s/house -- sh -c 'mv ~/.local ~/x; cat ~/x/state/pinfold/broker/db'; mv %[2]s/house/x %[2]s/house/.local"},
			{"project", at("root/state"), "%[1]s run -C %[2]s/root -w . -- cat state/pinfold/broker/db"},
			{"project-bind-mount", at("root/state"), "%[1]s run -C %[2]s/root -w . -- cat alias/pinfold/broker/db"},
			{"project-itself", at("root/state"), "%[1]s run -C %[2]s/root/state/pinfold -- cat broker/db"},
			{"skill", at("root/state"), `%[1]s skill call -C %[2]s/root read_file '{"path":"state/pinfold/broker/db"}'`},
			{"skill-glob", at("root/state"), `%[1]s skill call -C %[2]s/root grep '{"pattern":"the-s.*t"}'`},
		} {
			script := fmt.Sprintf(c.script, pinfold, s.base)
			out := printed(t, st.command(t, s, []string{"XDG_STATE_HOME=" + c.state}, "/bin/sh", "-c", script))
			assert.NotContains(t, out, secret, c.name)
			out = printed(t, st.command(t, s, []string{nowhere}, "/bin/sh", "-c", script))
			assert.Contains(t, out, secret, "%s: unguarded", c.name)
		}
		// fusermount3 has no rights on a stage, and no other name is needed.
		mount := fmt.Sprintf("mkdir -p %[2]s/at && %[1]s mount -C %[2]s/root %[2]s/at && cat %[2]s/at/state/pinfold/broker/db; %[1]s unmount %[2]s/at", pinfold, s.base)
		for _, state := range []string{at("root/state"), at("nowhere")} {
			cmd := asUser(uid, modes[0], "/bin/sh", "-c", mount)
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
			out := printed(t, cmd)
			assert.Equal(t, state == at("nowhere"), strings.Contains(out, secret), "mount: %s", out)
			mcp := st.command(t, s, []string{"XDG_STATE_HOME=" + state}, pinfold, "mcp", "-C", s.root)
			out = readOverMCP(t, mcp, "state/pinfold/broker/db")
			assert.Equal(t, state == at("nowhere"), strings.Contains(out, secret), "mcp: %s", out)
		}
		// What is made later is not seen either.
		later := fmt.Sprintf("%s run -C %s --ro %s -- sh -c 'cat %[3]s/file; ls %[3]s/deep/pinfold'", pinfold, s.root, at("new"))
		out := printed(t, st.command(t, s, []string{"XDG_STATE_HOME=" + at("new/deep")}, "/bin/sh", "-c", later))
		assert.Contains(t, out, "Permission denied")
		info, err := os.Stat(at("new/deep/pinfold"))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
		for _, name := range []string{"skills", "mcp", "mount"} {
			if !t.Failed() {
				tableRow(t, "state", surfaceOf(name, uid))
			}
		}
	})
}

// TestAttackKeptHomes: what one agent keeps in its home is seen by no run but its own,
// whatever is shown around it.
func TestAttackKeptHomes(t *testing.T) {
	onEachRun(t, "state", func(t *testing.T, uid int) {
		s := newSite(t, uid, true)
		s.files(map[string]string{
			"house/share/pinfold/homes/codex/login": secret, "house/share/pinfold/homes/claude/login": "its-own",
			"root/share/pinfold/homes/codex/login": secret, "later/file": "later", "nowhere/.keep": "",
		})
		at := func(p string) string { return filepath.Join(s.base, p) }
		run := func(data, script string) string {
			script = fmt.Sprintf(script, pinfold, s.base)
			cmd := asUser(uid, modes[0], "/bin/sh", "-c", script)
			cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+at(data), "HOME=/home/me")
			return printed(t, cmd)
		}
		const homes = "%[2]s/house/share/pinfold/homes"
		for name, script := range map[string]string{
			"ro":               "%[1]s run -C %[2]s/root --ro %[2]s/house -- cat " + homes + "/codex/login",
			"ro-itself":        "%[1]s run -C %[2]s/root --ro " + homes + " -- cat " + homes + "/codex/login",
			"ro-one":           "%[1]s run -C %[2]s/root --ro " + homes + "/codex -- cat " + homes + "/codex/login",
			"home":             "%[1]s run -C %[2]s/root --home " + homes + " -- cat /home/me/codex/login",
			"home-above":       "%[1]s run -C %[2]s/root --home %[2]s/house -- cat /home/me/share/pinfold/homes/codex/login",
			"beside-a-home":    "%[1]s run -C %[2]s/root --home " + homes + "/claude --ro %[2]s/house -- cat " + homes + "/codex/login",
			"home-that-leads":  "%[1]s run -C %[2]s/root --home " + homes + "/claude --ro " + homes + "/codex -- cat " + homes + "/codex/login",
			"project-in-homes": "%[1]s run -C " + homes + "/codex -- cat login",
		} {
			assert.NotContains(t, run("house/share", script), secret, name)
			assert.Contains(t, run("nowhere", script), secret, "%s: unguarded", name)
		}
		const project = "%[1]s run -C %[2]s/root -- cat share/pinfold/homes/codex/login"
		assert.NotContains(t, run("root/share", project), secret)
		assert.Contains(t, run("nowhere", project), secret, "unguarded")
		assert.Contains(t, run("house/share", "%[1]s run -C %[2]s/root --home "+homes+"/claude -- cat /home/me/login"), "its-own", "a run sees its own")
		// A home that is made later is not seen either.
		const later = "%[1]s run -C %[2]s/root --ro %[2]s/later -- sh -c 'cat %[2]s/later/file; ls %[2]s/later/pinfold/homes'"
		out := run("later", later)
		assert.Contains(t, out, "later")
		assert.Contains(t, out, "Permission denied")
	})
}
