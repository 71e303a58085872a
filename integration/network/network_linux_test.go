package network

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ground is where runs are started.
type ground struct {
	dir, pinfold, probe string
}

func newGround(t *testing.T) ground {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	g := ground{dir: filepath.Join(dir, "project"), pinfold: os.Getenv("PINFOLD_BIN"), probe: filepath.Join(dir, "project", "probe")}
	require.NoError(t, os.Mkdir(g.dir, 0o755))
	if g.pinfold == "" {
		g.pinfold = filepath.Join(dir, "pinfold")
		build := exec.Command("go", "build", "-o", g.pinfold, "github.com/pinfold-dev/pinfold/cmd/pinfold")
		build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
		out, err := build.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	self, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(g.probe, self, 0o755))
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	return g
}

// run starts a run with these flags.
func (g ground) run(flags []string, command ...string) *exec.Cmd {
	args := append([]string{"run", "-C", g.dir}, flags...)
	return exec.Command(g.pinfold, append(append(args, "--"), command...)...)
}

// try has the probe carry out lists of attempts, in a run with these flags, or without
// any where flags is nil. An open socket comes along.
func (g ground) try(t *testing.T, flags []string, lists ...string) map[string]tried {
	cmd := g.run(flags, append([]string{g.probe}, lists...)...)
	if flags == nil {
		cmd = exec.Command(g.probe, lists...)
	}
	c, err := net.Dial("tcp", public+":22")
	require.NoError(t, err)
	defer c.Close()
	f, err := c.(*net.TCPConn).File()
	require.NoError(t, err)
	defer f.Close()
	cmd.ExtraFiles = []*os.File{f}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var list []tried
	require.NoError(t, json.Unmarshal(out, &list), "%s", out)
	all := map[string]tried{}
	for _, r := range list {
		all[r.Name] = r
	}
	return all
}

var allowFlags = []string{"--allow-host", "allowed.test", "--allow-host", "*.allowed.test", "--allow-host", "allowed.test:22", "--allow-host", "localhost:8082"}

// TestNetworkAttacks: what gets out of a run with the host's network does not get out of
// one without a network, nor of one with the hosts that are named.
func TestNetworkAttacks(t *testing.T) {
	if !onStage(t) {
		return
	}
	w, g := newWorld(t), newGround(t)
	abstract, err := net.Listen("unix", "@pinfold-network-test")
	require.NoError(t, err)
	defer abstract.Close()

	for name, flags := range map[string][]string{"outside": nil, "host": {"--net", "host"}} {
		w.since()
		results, heard := g.try(t, flags, "attempts", "quiet"), w.since()
		for _, a := range attempts {
			assert.Empty(t, results[a.name].Err, "%s: %s", name, a.name)
			assert.True(t, heard[a.name], "%s: %s is heard", name, a.name)
		}
		assert.Empty(t, results["ping"].Err, name)
	}
	results := g.try(t, nil, "fixed")
	assert.Empty(t, results["abstract socket"].Err)
	assert.Empty(t, results["inherited socket"].Err)
	for name, flags := range map[string][]string{"host": {"--net", "host"}, "none": {"--net", "none"}, "allow": allowFlags} {
		for what, r := range g.try(t, flags, "fixed") {
			assert.NotEmpty(t, r.Err, "%s: %s", name, what)
		}
	}
	for name, flags := range map[string][]string{"none": {"--net", "none"}, "allow": allowFlags} {
		w.since()
		results, heard := g.try(t, flags, "attempts", "quiet"), w.since()
		for _, a := range append(attempts, quiet...) {
			r := results[a.name]
			if a.name != "tunnel" { // which cannot tell
				assert.NotEmpty(t, r.Err, "%s: %s", name, a.name)
			}
			assert.False(t, heard[a.name], "%s: %s is heard", name, a.name)
			assert.Less(t, r.Took, patience/2, "%s: %s hangs", name, a.name)
		}
		heard = w.since()
		assert.False(t, heard["evil"], name)
	}
}

// TestNetworkAllowed: what is named works, and is in the report and the run's log.
func TestNetworkAllowed(t *testing.T) {
	if !onStage(t) {
		return
	}
	w, g := newWorld(t), newGround(t)
	results, heard := g.try(t, allowFlags, "allowed"), w.since()
	for _, a := range allowed {
		assert.Empty(t, results[a.name].Err, a.name)
		assert.True(t, heard[a.name], "%s is heard", a.name)
	}
	report := filepath.Join(t.TempDir(), "report")
	python := `import urllib.request as u
print(u.urlopen("http://allowed.test/python").read().decode())
try: u.urlopen("http://evil.test/")
except OSError as e: print("refused")
try: u.urlopen("http://allowed.test:8080/")
except OSError as e: print("refused")`
	out, err := g.run([]string{"--allow-host", "allowed.test", "--report", report, "--name", "netlog", "--fail-on-deny"}, "python3", "-c", python).Output()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 123, exit.ExitCode(), "--fail-on-deny")
	assert.Equal(t, "hello\nrefused\nrefused\n", string(out))
	text, err := os.ReadFile(report)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"connect":{"host":"evil.test","refused":"the host is not allowed","allow":"evil.test"}`)
	assert.Contains(t, string(text), `"allow":"allowed.test:8080"`)
	log, err := exec.Command(g.pinfold, "logs", "netlog").CombinedOutput()
	require.NoError(t, err, "%s", log)
	assert.Regexp(t, `connected +allowed\.test:80 .*bytes out`, string(log))
	assert.Regexp(t, `refused +connect allowed\.test:8080`, string(log))
}

// TestNetworkPolicy: the hosts that a policy lists are all that a run and a hired agent reach,
// and a model is told them.
func TestNetworkPolicy(t *testing.T) {
	if !onStage(t) {
		return
	}
	w, g := newWorld(t), newGround(t)
	python := func(path string) []string {
		return []string{"python3", "-c", `import urllib.request as u
for at in "evil.test", "allowed.test:8080", "allowed.test":
    try: u.urlopen("http://" + at + "/` + path + `-" + at)
    except OSError: pass`}
	}
	policy := filepath.Join(g.dir, "policy.yaml")
	for _, list := range []string{"{mode: allow, allow: [allowed.test:80]}", "true"} {
		require.NoError(t, os.WriteFile(policy, []byte("version: 1\nextends: WRITE\nfs: {write: []}\nnetwork: "+list+"\n"), 0o644))
		out, err := g.run([]string{"--policy", policy}, python("run")...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		rules, err := g.run([]string{"--policy", policy}, "cat", "/run/pinfold/rules.md").Output()
		require.NoError(t, err)
		state := filepath.Join(t.TempDir(), "broker")
		serve := exec.Command(g.pinfold, "serve", "--state-dir", state)
		serve.Stderr = os.Stderr
		require.NoError(t, serve.Start())
		t.Cleanup(func() { _ = serve.Process.Kill() }) // or it has ended
		var flags []string
		hire := func(command ...string) error {
			cmd := exec.Command(g.pinfold, slices.Concat([]string{"hire", "-C", g.dir, "--policy", policy}, flags, []string{"task", "--"}, command)...)
			cmd.Env = append(os.Environ(), "PINFOLD_SOCKET="+filepath.Join(state, "operator.sock"))
			require.Eventually(t, func() bool {
				_, err := os.Stat(filepath.Join(state, "operator.sock"))
				return err == nil
			}, time.Minute, 10*time.Millisecond)
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		}
		hired := func(command ...string) { require.NoError(t, hire(command...)) }
		hired(python("hired")...)
		if list == "true" {
			flags = []string{"--allow-host", "allowed.test:8080"}
			hired(python("narrowed")...)
		} else {
			flags = []string{"--allow-host", "evil.test"}
			require.ErrorContains(t, hire("true"), "'evil.test' is more than policy 'policy' allows")
		}
		heard := map[string]bool{}
		require.Eventually(t, func() bool {
			for what := range w.since() {
				heard[what] = true
			}
			return heard["hired-allowed.test"] && (list != "true" || heard["narrowed-allowed.test:8080"])
		}, time.Minute, 10*time.Millisecond)
		require.NoError(t, serve.Process.Signal(os.Interrupt))
		_ = serve.Wait() // how it ends is no matter here
		for _, who := range []string{"run", "hired"} {
			assert.True(t, heard[who+"-allowed.test"], "%s %s", who, list)
			assert.Equal(t, list == "true", heard[who+"-evil.test"], "%s %s", who, list)
			assert.Equal(t, list == "true", heard[who+"-allowed.test:8080"], "%s %s", who, list)
		}
		assert.False(t, heard["narrowed-evil.test"] || heard["narrowed-allowed.test"])
		assert.Equal(t, list != "true", strings.Contains(string(rules), "`allowed.test:80`"), "%s", rules)
	}
}

// TestNetworkPublish: a port inside is reached where it is published, and nowhere else.
func TestNetworkPublish(t *testing.T) {
	if !onStage(t) {
		return
	}
	newWorld(t)
	g := newGround(t)
	for _, published := range []bool{true, false} {
		flags := []string{"--net", "allow"}
		if published {
			flags = []string{"--publish", "9090:7070"}
		}
		cmd := g.run(flags, g.probe, "serve")
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		cmd.Stderr = os.Stderr
		require.NoError(t, cmd.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "ready\n", line)
		resp, err := http.Get("http://127.0.0.1:9090/")
		if published {
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, "from inside", string(body))
		} else {
			assert.Error(t, err)
		}
		for at, why := range map[string]string{"127.0.0.1:7070": "the loopback inside is private", public + ":9090": "it is published on the loopback alone"} {
			_, err := net.Dial("tcp", at)
			assert.Error(t, err, why)
		}
		require.NoError(t, in.Close())
		require.NoError(t, cmd.Wait())
		http.DefaultClient.CloseIdleConnections()
	}
	out, err := g.run([]string{"--publish", "80:80:80"}, "true").CombinedOutput()
	assert.Error(t, err)
	assert.True(t, strings.Contains(string(out), "is not [ADDR:]PORT[:PORT]"), "%s", out)
}
