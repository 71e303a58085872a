package helper

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	base := t.TempDir()
	first, second := filepath.Join(base, "first"), filepath.Join(base, "second")
	for _, dir := range []string{first, second} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	program := filepath.Join(second, "tool")
	require.NoError(t, os.WriteFile(program, nil, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(first, "tool"), nil, 0o644)) // cannot be run
	require.NoError(t, os.Mkdir(filepath.Join(first, "dir"), 0o755))

	got, err := find([]string{first, second}, "tool")
	require.NoError(t, err)
	assert.Equal(t, program, got)
	for _, name := range []string{"missing", "dir", "../second/tool", "", program} {
		_, err := find([]string{first, second}, name)
		assert.Error(t, err, name)
	}
	t.Chdir(second)
	t.Setenv("PATH", "."+string(filepath.ListSeparator)+second)
	_, err = Path("tool")
	assert.ErrorContains(t, err, "PATH is not looked at")
}

func TestSearch(t *testing.T) {
	join := func(dirs ...string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }
	root := t.TempDir() // absolute on every system
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	unsafe := func(dir string) bool { return dir == a }
	assert.Equal(t, b, Search(join("", ".", a, b, "node_modules/.bin"), unsafe))
	assert.Equal(t, join(a, b), Search(join(a, b), func(string) bool { return false }))
	assert.Empty(t, Search("", unsafe))
}
