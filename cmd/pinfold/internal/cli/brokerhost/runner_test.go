package brokerhost

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A task of 64 KiB in a word that names it thousands of times would be gigabytes.
func TestCommandWithItsTask(t *testing.T) {
	got, err := withTask([]string{"sh", "-c", "echo {task}", "{task}{task}", "{tas"}, "a b")
	require.NoError(t, err)
	require.Equal(t, []string{"sh", "-c", "echo a b", "a ba b", "{tas"}, got)
	got, err = withTask([]string{"x", "{task}"}, "{task}{task}")
	require.NoError(t, err)
	require.Equal(t, []string{"x", "{task}{task}"}, got)
	task := strings.Repeat("A", 64<<10)
	for _, command := range [][]string{{strings.Repeat("{task}", 16_000)}, strings.Split(strings.Repeat("{task} ", 16_000), " ")} {
		_, err = withTask(command, task)
		require.ErrorContains(t, err, "more than 2097152 bytes")
	}
}

// What had to be killed is on record as killed, and not as having exited.
func TestEndOfView(t *testing.T) {
	view := exec.Command("cat")
	held, err := view.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, view.Start())
	require.NoError(t, view.Process.Signal(os.Kill))
	end := endOfView(view.Wait())
	require.Equal(t, []any{137, syscall.SIGKILL, "its view was ended (killed), and the command with it"}, []any{end.Code, end.Signal, end.Reason})
	_ = held.Close()

	end = endOfView(exec.Command("false").Run())
	require.Equal(t, []any{125, syscall.Signal(0), "its view ended without a word (exit status 1)"}, []any{end.Code, end.Signal, end.Reason})
}
