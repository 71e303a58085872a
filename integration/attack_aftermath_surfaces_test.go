package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/ops"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// leaver is a surface on which an agent leaves something in a project.
type leaver struct {
	name string
	does func(a aftermath) string // its part of the attack, "" where it cannot do that
	// guarded does one session of the attack under the policy.
	guarded func(t *testing.T, s *aftermathScene, session string)
	// unguarded does it where nobody decides.
	unguarded func(t *testing.T, s *aftermathScene, session string)
}

// leavers are all of them. On those that have a shell an attack is a script, on the
// others operations.
var leavers = []leaver{
	{"run", byShell, inRun, inShell},
	{"mount", byShell, inMount, inShell},
	{"api", byAPI, inProcess("api"), byHand},
	{"skills", bySkills, inProcess("skills"), byHand},
	{"mcp", bySkills, throughMCP, byHand},
}

func byShell(a aftermath) string  { return a.attack }
func bySkills(a aftermath) string { return a.ops }
func byAPI(a aftermath) string {
	if a.api != "" {
		return a.api
	}
	return a.ops
}

// sessions are the parts of an attack that are done one after the other, each by a
// process of its own.
func sessions(attack string) []string { return strings.Split(attack, "\nagain\n") }

// inRun has a shell do it in a run.
func inRun(t *testing.T, s *aftermathScene, script string) {
	policy := append([]string{"--ro", s.base + "/out"}, s.a.policy...)
	for _, kv := range s.vars() {
		policy = append(policy, "--env", kv)
	}
	cmd := pinfoldRun(s.site, s.uid, modes[0], policy, "sh", "-c", "cd "+s.root+"; set +e\n"+script+"\ntrue")
	s.guardedCommand(t, cmd)
}

// inMount has a shell do it in a mount.
func inMount(t *testing.T, s *aftermathScene, script string) {
	s.guardedCommand(t, mountShell(t, s.site, s.a.policy, script))
}

// mountShell is a shell in a mount of the project, which goes with it.
func mountShell(t *testing.T, s *site, policy []string, script string) *exec.Cmd {
	t.Helper()
	return asUser(s.uid, modes[0], "/bin/sh", "-c", fmt.Sprintf("%s mount -C %s %s %s || exit 9\ncd %[4]s; (set +e\n%s\n)\ncd /; exec %[1]s unmount %[4]s",
		pinfold, s.root, strings.Join(policy, " "), tempDir(t, s.uid), script))
}

// guardedCommand runs a command of pinfold as the operator does.
func (s *aftermathScene) guardedCommand(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.Dir, cmd.Env = s.base, append([]string{"HOME=" + s.home}, s.vars()...)
	out, err := cmd.CombinedOutput()
	t.Logf("guarded: %v\n%s", err, out)
	require.NoError(t, err)
}

func inShell(t *testing.T, s *aftermathScene, script string) {
	out, _ := s.command("sh", "-c", script).CombinedOutput()
	t.Logf("unguarded: %s", out)
}

// byHand does operations with plain system calls.
func byHand(t *testing.T, s *aftermathScene, lines string) {
	e := newActor(start(t, exec.Command(insiderPath, "serve", s.root), s.uid))
	defer e.stop()
	for _, op := range s.operations(lines) {
		res := e.Do(op)
		t.Logf("unguarded: %s: %s", op, res.Text)
	}
}

// operations are the lines of an attack: a verb, a path, and the rest.
func (s *aftermathScene) operations(lines string) (list []ops.Op) {
	values := map[string]string{}
	for _, kv := range s.vars() {
		name, value, _ := strings.Cut(kv, "=")
		values[name] = value
	}
	values["EVILTEXT"] = evilText(s.base + "/out")
	text := func(word string) []byte {
		word = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(word)
		return []byte(os.Expand(word, func(name string) string { return values[name] }))
	}
	for line := range strings.Lines(lines) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		op := ops.Op{Verb: words[0]}
		for _, w := range words[1:] {
			op.Args = append(op.Args, text(w))
		}
		list = append(list, op)
	}
	return list
}

// errand is what another process of the test binary does by the Go API or the
// skills: as any user, and with what is known of one process only.
type errand struct {
	Surface string
	Config  pathresolver.Config
	Ops     []ops.Op
}

func init() { attacks["errand"] = doErrand }

func doErrand() {
	var e errand
	must(json.NewDecoder(os.Stdin).Decode(&e))
	r, err := pathresolver.New(e.Config)
	must(err)
	defer r.Close()
	var does ops.Executor = api{r}
	if e.Surface == "skills" {
		does, err = newSkillOps(r)
		must(err)
	}
	results := make([]ops.Result, len(e.Ops))
	for i, op := range e.Ops {
		results[i] = does.Do(op)
	}
	must(json.NewEncoder(os.Stdout).Encode(results))
}

// inProcess does operations by the Go API or the skills.
func inProcess(surface string) func(t *testing.T, s *aftermathScene, lines string) {
	return func(t *testing.T, s *aftermathScene, lines string) {
		e := errand{Surface: surface, Config: config(s.site, s.a.policy, modes[0]), Ops: s.operations(lines)}
		in, err := json.Marshal(e)
		require.NoError(t, err)
		cmd := asUser(s.uid, modes[0], insiderPath, "attack", "errand")
		cmd.Dir, cmd.Env = s.base, append([]string{"HOME=" + s.home}, s.vars()...)
		cmd.Stdin = strings.NewReader(string(in))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		require.NoError(t, err)
		var results []ops.Result
		require.NoError(t, json.Unmarshal(out, &results))
		s.cameOf(t, e.Ops, results)
	}
}

// throughMCP does operations by `pinfold mcp`.
func throughMCP(t *testing.T, s *aftermathScene, lines string) {
	cmd := asUser(s.uid, modes[0], append([]string{pinfold, "mcp", "--enable", "delete_file", "-C", s.root}, s.a.policy...)...)
	cmd.Dir, cmd.Env = s.base, append([]string{"HOME=" + s.home}, s.vars()...)
	session, err := connect(t, cmd, false)
	require.NoError(t, err)
	does := skillOps{call: func(name string, args map[string]any) (string, error) { return callTool(session, name, args) }}
	list := s.operations(lines)
	results := make([]ops.Result, len(list))
	for i, op := range list {
		results[i] = does.Do(op)
	}
	s.cameOf(t, list, results)
}

// cameOf notes what came of operations. The surface has to have them.
func (s *aftermathScene) cameOf(t *testing.T, list []ops.Op, results []ops.Result) {
	t.Helper()
	for i, res := range results {
		t.Logf("guarded: %s: %s", list[i], res.Text)
		require.NotEqual(t, ops.ErrUnsupported.Error(), res.Text, "there is no %s on this surface", list[i].Verb)
		s.refused = s.refused || res.Rule != ""
	}
}
