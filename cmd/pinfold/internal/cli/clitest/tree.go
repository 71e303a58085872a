package clitest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tree is files by their names, and links, whose text begins with "-> ". ROOT
// stands for the project's directory.
type Tree map[string]string

// Make makes the files beneath root.
func (f Tree) Make(t testing.TB, root string) {
	t.Helper()
	for name, text := range f {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		if to, link := strings.CutPrefix(text, "-> "); link {
			require.NoError(t, os.Symlink(to, file))
			continue
		}
		require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(text, "ROOT", root)), 0o644))
	}
}
