package policyflag

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func TestReadWritePaths(t *testing.T) {
	for input, want := range map[string][]string{
		"":            nil,
		"src":         {"src"},
		"src\ndocs\n": {"src", "docs"},
		"\n":          {""},
		"a\n\nb":      {"a", "", "b"},
		" a \r\n":     {" a "},
		"a\r\r\nb\r":  {"a\r", "b"},
	} {
		got, err := readWritePaths("-", false, strings.NewReader(input))
		require.NoError(t, err)
		require.Equal(t, want, got, "%q", input)
	}
	got, err := readWritePaths("-", true, strings.NewReader("a\nb\x00c\r\x00"))
	require.NoError(t, err)
	require.Equal(t, []string{"a\nb", "c\r"}, got)

	_, err = readWritePaths("-", false, strings.NewReader(strings.Repeat("x", maxListBytes+1)))
	require.Error(t, err, "a list has a bound")
	_, err = readWritePaths("-", false, nil)
	require.ErrorIs(t, err, errStdinTaken)
	_, err = readWritePaths("", true, nil)
	require.ErrorIs(t, err, errNullAlone)
}

// The list is out of reach by whatever name it was given, also where its name
// is full of what globs are made of.
func TestListIsProtected(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "root")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "lists"), 0o700))
	require.NoError(t, os.Symlink(root, filepath.Join(base, "link")))
	const odd = `lists/a*?[x]{y}\z`
	require.NoError(t, os.WriteFile(filepath.Join(root, odd), []byte(".\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(base, "beside"), []byte(".\n"), 0o600))
	require.NoError(t, os.Symlink(odd, filepath.Join(root, "alias")))

	for _, rootAs := range []string{root, filepath.Join(base, "link")} {
		for _, from := range []string{root + "/" + odd, base + "/link/" + odd, root + "/alias"} {
			f := Flags{Root: rootAs, ListFrom: from, HardLinks: "deny"}
			cfg, err := f.Config(nil)
			require.NoError(t, err)
			r, err := pathresolver.New(cfg)
			require.NoError(t, err)
			require.Equal(t, pathresolver.RuleProtected, resolved.Explain(r, access.OpWrite, odd).Rule, "%s as %s", from, rootAs)
			require.Equal(t, pathresolver.RuleProtected, resolved.Explain(r, access.OpDelete, odd).Rule)
			require.True(t, resolved.Explain(r, access.OpWrite, "lists/axx").Allowed, "its name is not read as a glob")
			require.NoError(t, r.Close())
		}
	}
	require.Empty(t, ProtectList(root, filepath.Join(base, "beside")))
	require.Empty(t, ProtectList(root, "-"))
	require.Empty(t, ProtectList(root, ""))
}
