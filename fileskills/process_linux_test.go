package fileskills

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// TestMain is also the process that the tests below start.
func TestMain(m *testing.M) {
	if role := os.Getenv("PINFOLD_TEST_ROLE"); role != "" {
		if err := play(role, os.Getenv("PINFOLD_TEST_ROOT")); err != nil {
			fmt.Println("FAILED", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func play(role, root string) error {
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"}})
	if err != nil {
		return err
	}
	set, err := New(Config{Resolver: r, NoSync: true})
	if err != nil {
		return err
	}
	ready := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	if _, err := ready.ReadString('\n'); err != nil {
		return err
	}
	call := func(skill string, a args) error {
		input, _ := json.Marshal(a)
		_, err := set.Call(context.Background(), skill, input)
		return err
	}
	id := os.Getenv("PINFOLD_TEST_ID")
	switch role {
	case "edit": // one edit of the shared file
		err = call("edit_file", args{"path": "out/shared", "old_string": "slot " + id + ": free", "new_string": "slot " + id + ": taken"})
	case "append":
		for n := range 5 {
			if err = call("append_file", args{"path": "out/shared", "content": fmt.Sprintf("line %s.%d", id, n)}); err != nil {
				break
			}
		}
	case "write": // until killed
		for n := 0; ; n++ {
			name := fmt.Sprintf("out/f%d", n%3)
			if err := call("write_file", args{"path": name, "content": whole(n)}); err != nil {
				return err
			}
			fmt.Println("wrote", n)
		}
	}
	var e *Error
	if errors.As(err, &e) && e.Code == CodeStaleFile {
		fmt.Println("stale")
		return nil
	}
	if err == nil {
		fmt.Println("done")
	}
	return err
}

// whole is content that shows whether it is complete.
func whole(n int) string {
	return fmt.Sprintf("begin %d\n%send %d\n", n, strings.Repeat(fmt.Sprintln("line of", n), 200+n%50), n)
}

var wholeText = regexp.MustCompile(`^begin (\d+)\n`)

// process is one that was started, and has said that it is ready.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t *testing.T, role, root, id string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PINFOLD_TEST_ROLE="+role, "PINFOLD_TEST_ROOT="+root, "PINFOLD_TEST_ID="+id)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	p := &process{cmd, in, bufio.NewReader(out)}
	require.Equal(t, "ready\n", p.line(t))
	return p
}

func (p *process) line(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	require.NoError(t, err)
	return line
}

func (p *process) goAhead(t *testing.T) {
	t.Helper()
	_, err := io.WriteString(p.in, "\n")
	require.NoError(t, err)
}

// TestParallelEdits: T03. Twenty processes edit one file at once: what one was
// told to have succeeded is there. A bare read-change-write, done the same
// way, loses some.
func TestParallelEdits(t *testing.T) {
	const processes = 20
	slots := ""
	for n := range processes {
		slots += fmt.Sprintf("slot %d: free\n", n)
	}
	w := newWorld(t)
	w.write("out/shared", slots)
	answers := race(t, w.root, "edit", processes)
	now := w.read("out/shared")
	applied := 0
	for n, answer := range answers {
		state := fmt.Sprintf("slot %d: taken\n", n)
		if answer == "done\n" {
			applied++
			require.Contains(t, now, state)
		} else {
			require.Equal(t, "stale\n", answer)
			require.NotContains(t, now, state)
		}
	}
	t.Logf("%d of %d applied", applied, processes)
	require.Equal(t, processes, strings.Count(now, "slot"))
	require.Greater(t, applied, processes/2)
	require.Equal(t, []string{"shared"}, w.names("out"))
}

func TestParallelAppends(t *testing.T) {
	const processes = 10
	w := newWorld(t)
	w.write("out/shared", "")
	for _, answer := range race(t, w.root, "append", processes) {
		require.Equal(t, "done\n", answer)
	}
	lines := strings.Fields(strings.ReplaceAll(w.read("out/shared"), "line ", ""))
	require.Len(t, lines, processes*5)
	slices.Sort(lines)
	require.Len(t, slices.Compact(lines), processes*5)
}

// race starts processes and lets them go at the same moment.
func race(t *testing.T, root, role string, processes int) (answers []string) {
	var all []*process
	for n := range processes {
		all = append(all, start(t, role, root, fmt.Sprint(n)))
	}
	for _, p := range all {
		p.goAhead(t)
	}
	for _, p := range all {
		answers = append(answers, p.line(t))
	}
	return answers
}
