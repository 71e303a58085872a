package fileskills

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

const (
	editorEnv     = "PINFOLD_TEST_EDITOR" // base directory
	editorLineEnv = "PINFOLD_TEST_EDITOR_LINE"
	editsEach     = 10
)

// TestEditor is one of the processes of TestEditProcesses: it counts its own
// line up, and says for how many edits it was told that they succeeded. In an
// ordinary run of the tests it does nothing.
func TestEditor(t *testing.T) {
	base := os.Getenv(editorEnv)
	if base == "" {
		return
	}
	line, err := strconv.Atoi(os.Getenv(editorLineEnv))
	require.NoError(t, err)
	r, err := pathresolver.New(pathresolver.Config{Root: filepath.Join(base, "root"), WritePaths: []string{"out"}})
	require.NoError(t, err)
	defer r.Close()
	set, err := New(Config{Resolver: r})
	require.NoError(t, err)
	fmt.Println("ready")
	_, err = bufio.NewReader(os.Stdin).ReadString('\n')
	require.NoError(t, err)
	done := 0
	for range editsEach {
		input, err := json.Marshal(args{
			"path": "out/f", "old_string": fmt.Sprintf("line %02d: %d\n", line, done), "new_string": fmt.Sprintf("line %02d: %d\n", line, done+1),
		})
		require.NoError(t, err)
		_, err = set.Call(background, "edit_file", input)
		var e *Error
		switch {
		case err == nil:
			done++
		case !errors.As(err, &e) || e.Code != CodeStaleFile:
			fmt.Println("unexpected:", err)
			return
		}
	}
	fmt.Println("done", done)
}

// 20 processes edit one file (T03): what was reported as done is in it.
func TestEditProcesses(t *testing.T) {
	const n = 20
	w := newWorld(t)
	var file strings.Builder
	for i := range n {
		fmt.Fprintf(&file, "line %02d: 0\n", i)
	}
	w.write("out/f", file.String())
	exe, err := os.Executable()
	require.NoError(t, err)
	var ready, all sync.WaitGroup
	start := make(chan struct{})
	ready.Add(n)
	said := make([]string, n)
	for i := range n {
		cmd := exec.Command(exe, "-test.run=^TestEditor$")
		cmd.Env = append(os.Environ(), editorEnv+"="+w.base, fmt.Sprintf("%s=%d", editorLineEnv, i))
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		all.Go(func() {
			lines := bufio.NewScanner(out)
			lines.Scan()
			ready.Done()
			<-start
			_, _ = in.Write([]byte("go\n"))
			lines.Scan()
			said[i] = lines.Text()
			_ = cmd.Wait()
		})
	}
	ready.Wait()
	close(start)
	all.Wait()
	total := 0
	for i, s := range said {
		var done int
		_, err := fmt.Sscanf(s, "done %d", &done)
		require.NoError(t, err, s)
		require.Contains(t, w.read("out/f"), fmt.Sprintf("line %02d: %d\n", i, done))
		total += done
	}
	t.Logf("%d of %d edits were made, the others refused as stale", total, n*editsEach)
	require.GreaterOrEqual(t, total, n)
	require.Equal(t, []string{"f"}, w.names("out"))
}
