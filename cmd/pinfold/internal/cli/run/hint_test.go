package run

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFindSocket(t *testing.T) {
	dir := t.TempDir()
	empty, deep := filepath.Join(dir, "empty"), filepath.Join(dir, "deep")
	require.NoError(t, os.MkdirAll(filepath.Join(deep, "a/b"), 0o755))
	require.NoError(t, os.Mkdir(empty, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(empty, "file"), nil, 0o600))
	require.Empty(t, findSocket([]string{"", empty, filepath.Join(dir, "missing")}))

	// By a short name: an address holds some hundred bytes.
	t.Chdir(filepath.Join(deep, "a/b"))
	l, err := net.Listen("unix", "s")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	require.Equal(t, filepath.Join(deep, "a/b/s"), findSocket([]string{empty, deep}))
	require.Equal(t, filepath.Join(deep, "a/b/s"), findSocket([]string{filepath.Join(deep, "a/b/s")}), "named itself")

	for i := range maxLooked {
		require.NoError(t, os.WriteFile(filepath.Join(empty, strconv.Itoa(i)), nil, 0o600))
	}
	require.Empty(t, findSocket([]string{empty, deep}), "looking has a bound")
}

func TestFindSetID(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, "a/b"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(home, "a/plain"), nil, 0o755))
	require.NoError(t, os.Chmod(filepath.Join(home, "a/b"), 0o755|os.ModeSetgid))
	require.Empty(t, findSetID(home), "a directory gives no rights")
	require.Empty(t, findSetID(filepath.Join(home, "missing")))
	program := filepath.Join(home, "a/b/program")
	require.NoError(t, os.WriteFile(program, nil, 0o755))
	require.NoError(t, os.Chmod(program, 0o755|os.ModeSetuid))
	require.Equal(t, program, findSetID(home))
	for i := range maxLooked {
		require.NoError(t, os.WriteFile(filepath.Join(home, strconv.Itoa(i)), nil, 0o600))
	}
	require.Empty(t, findSetID(home), "looking has a bound")
}
