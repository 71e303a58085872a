package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerhost"
)

// typist is a shell that somebody types into.
type typist struct {
	t    *testing.T
	home string
	in   io.WriteCloser
	out  *bufio.Reader
	said string // by the last block
}

// newTypist opens a shell in a home directory, as a person has it: without
// what the tests' own environment says of brokers and directories.
func newTypist(t *testing.T, home string) *typist {
	t.Helper()
	cmd := exec.Command("bash", "--norc")
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1", "TERM=dumb", "LANG=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, in.Close())
		// What it runs is asked to end, as closing a terminal does.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
		_ = cmd.Wait() // it may have been in the middle of a command that failed
	})
	return &typist{t: t, home: home, in: in, out: bufio.NewReader(out)}
}

// enter types a block, and returns what it prints and the status of its last
// command.
func (m *typist) enter(block string) (out, status string) {
	m.t.Helper()
	_, err := fmt.Fprintf(m.in, "{\n%s\n} </dev/null\necho \"@@@$?\"\n", strings.TrimRight(block, "\n"))
	require.NoError(m.t, err)
	var b strings.Builder
	for {
		line, err := m.out.ReadString('\n')
		require.NoError(m.t, err, "%s\n%s", block, b.String())
		if i := strings.Index(line, "@@@"); i >= 0 {
			b.WriteString(line[:i])
			m.said = b.String()
			return m.said, strings.TrimSpace(line[i+3:])
		}
		b.WriteString(line)
	}
}

// background types a command that goes on, and waits for a line of it.
func (m *typist) background(command, line string) {
	m.t.Helper()
	_, err := fmt.Fprintln(m.in, command)
	require.NoError(m.t, err)
	said, err := m.out.ReadString('\n')
	require.NoError(m.t, err)
	require.Contains(m.t, said, line)
	go func() { _, _ = io.Copy(io.Discard, m.out) }()
}

var (
	uuidText = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	ageText  = regexp.MustCompile(`\b\d+s\b`)
)

// guide remembers which id of the page is which in this run.
type guide struct {
	*typist
	ids map[string]string
}

// typed is a block with the ids of this run in it.
func (g *guide) typed(block string) string {
	return uuidText.ReplaceAllStringFunc(block, func(id string) string {
		require.Contains(g.t, g.ids, id, "the page did not show where it comes from")
		return g.ids[id]
	})
}

// compare holds what was printed to a console of the page: ids and ages are
// what they are, and a line of dots stands for any lines.
func (g *guide) compare(want string) {
	g.t.Helper()
	want = strings.ReplaceAll(want, "/home/me", g.home)
	var names []string
	pattern := regexp.QuoteMeta(want)
	pattern = uuidText.ReplaceAllStringFunc(pattern, func(id string) string {
		if known, ok := g.ids[id]; ok {
			return known
		}
		names = append(names, id)
		return "(" + uuidText.String() + ")"
	})
	pattern = strings.ReplaceAll(pattern, "process 4", `process \d+`)
	pattern = ageText.ReplaceAllString(pattern, `\d+s`)
	pattern = strings.ReplaceAll(pattern, `\.\.\.`+"\n", `(?:.*\n)*`)
	found := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(g.said)
	require.NotNil(g.t, found, "the page says:\n%s\nand it is:\n%s", want, g.said)
	for i, name := range names {
		if known, ok := g.ids[name]; ok {
			require.Equal(g.t, known, found[i+1], "one id of the page is one")
		}
		g.ids[name] = found[i+1]
	}
}

// TestScriptOfDelegation does what docs/delegation.md says, word for word, in
// two terminals.
func TestScriptOfDelegation(t *testing.T) {
	page, err := os.ReadFile("../../docs/delegation.md")
	require.NoError(t, err)
	home, err := os.MkdirTemp("/tmp", "pf") // short: sockets lie beneath it
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(home)) })
	limit := time.AfterFunc(10*time.Minute, func() { panic("the page hangs") })
	defer limit.Stop()

	first, third := newTypist(t, home), newTypist(t, home)
	g := &guide{typist: newTypist(t, home), ids: map[string]string{}}
	running := make(chan struct{}) // closed once the third terminal's program has ended
	done := map[string]int{}
	for _, b := range blocksOf(string(page)) {
		switch {
		case b.language == "console" && strings.Contains(b.before, "in the third terminal"):
			<-running
			g.said = third.said
			g.compare(b.text)
		case b.language == "console":
			g.compare(b.text)
		case b.language == "sh" && strings.HasPrefix(b.before, "In the first terminal"):
			first.background("exec "+strings.TrimSpace(b.text), "pinfold: serving "+filepath.Join(home, ".local/state/pinfold/broker"))
		case b.language == "sh" && strings.HasSuffix(b.before, "In a third terminal:"):
			go func() {
				defer close(running)
				third.enter(b.text)
			}()
		case b.language == "sh" && strings.TrimSpace(b.text) == "pinfold requests":
			for g.enter(b.text); strings.Contains(g.said, "nothing waits"); g.enter(b.text) { // a person has looked by then
			}
		case b.language == "sh":
			g.enter(g.typed(b.text))
		case b.language == "yaml": // what serve would read
			file := filepath.Join(home, "launch.yaml")
			require.NoError(t, os.WriteFile(file, []byte(b.text), 0o600))
			_, err := brokerhost.ReadLaunches(cli.NewOutput(io.Discard, io.Discard), file)
			require.NoError(t, err)
		case b.language == "text": // done by broker_team.txtar
		default:
			t.Fatalf("a block in %q", b.language)
		}
		t.Logf("%s\n%s", b.text, g.said)
		done[b.language]++
	}
	require.GreaterOrEqual(t, done["sh"], 9)
	require.GreaterOrEqual(t, done["console"], 6)
	out, status := g.enter("pinfold status --json")
	require.Equal(t, "0", status, out)
	require.Contains(t, out, `"state": "fired"`)
	require.NotContains(t, out, `"state": "working"`, "nobody is at work any more")
}
