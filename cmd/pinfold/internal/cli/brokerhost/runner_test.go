package brokerhost

import (
	"strings"
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
