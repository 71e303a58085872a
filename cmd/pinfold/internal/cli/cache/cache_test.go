package cache

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/caches"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
)

func TestListFitsItsSchema(t *testing.T) {
	s := clitest.Schema(t, "../../../../../docs/schema/cache.schema.json")
	list := []caches.Layer{{Cache: "go", Project: "/" + clitest.Hostile, Used: time.Now(), Bytes: 5 << 30, Large: true, Temporary: true}, {Cache: "npm", Busy: true}}
	for _, list := range [][]caches.Layer{nil, list} {
		var out bytes.Buffer
		require.NoError(t, printJSON(cli.NewOutput(&out, nil), list))
		clitest.Validate(t, s, out.String())
		require.NotContains(t, out.String(), "\x1b")
	}
	var out bytes.Buffer
	require.NoError(t, printTable(cli.NewOutput(&out, nil), list))
	require.NotContains(t, out.String(), "\x1b")
	require.Equal(t, 3, strings.Count(out.String(), "\n"), "one line each, whatever the names hold")
	require.Contains(t, out.String(), "more than 5.0G")
}

func TestAge(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "0d": 0, "12h": 12 * time.Hour, "1m30s": 90 * time.Second} {
		var d age
		require.NoError(t, d.Set(text), text)
		require.Equal(t, want, time.Duration(d))
	}
	for _, text := range []string{"", "d", "-1d", "1.5d", "99999d", "-1h", "week"} {
		var d age
		require.Error(t, d.Set(text), text)
	}
}

// A file of checksums that an agent could write, or to which a link of an agent's leads,
// proves nothing.
func TestSumsOfRunsProveNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // there are no runs
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Setenv("XDG_STATE_HOME", filepath.Join(base, "state"))
	at := func(name string) string { return filepath.Join(base, name) }
	for _, dir := range []string{"state/pinfold", "project/src", "project/out", "own"} {
		require.NoError(t, os.MkdirAll(at(dir), 0o700))
	}
	for _, name := range []string{"project/go.sum", "project/out/go.sum", "own/go.sum"} {
		require.NoError(t, os.WriteFile(at(name), []byte("x"), 0o600))
	}
	require.NoError(t, os.Symlink(at("own/go.sum"), at("project/out/link")))
	require.NoError(t, os.Symlink(at("project/out/go.sum"), at("own/into")))
	c, _ := caches.Find("go")
	reads := func(name string) error {
		_, err := readSums(at(name), c)
		return err
	}
	all := []string{"project/go.sum", "own/go.sum", "own/into", "project/out/link", "project/out/go.sum"}
	for _, name := range all {
		require.NoError(t, reads(name), "before any run")
	}
	require.NoError(t, os.WriteFile(at("state/pinfold/written"), fmt.Appendf(nil, "%q\n", at("project/out")), 0o600))
	for _, name := range all {
		if strings.HasPrefix(name, "own/go") || name == "project/go.sum" {
			require.NoError(t, reads(name), name)
			continue
		}
		require.ErrorContains(t, reads(name), "proves nothing", name)
	}
	require.NoError(t, os.WriteFile(at("state/pinfold/written"), fmt.Appendf(nil, "%q\n", at("project")), 0o600))
	require.ErrorContains(t, reads("project/go.sum"), "proves nothing")
	require.NoError(t, reads("own/go.sum"))
	require.NoError(t, os.Remove(at("state/pinfold/written")))
	require.NoError(t, os.Mkdir(at("state/pinfold/written"), 0o700))
	require.Error(t, reads("own/go.sum"), "a record that cannot be read")
}
