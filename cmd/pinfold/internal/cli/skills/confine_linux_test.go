package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// TestConfineServer: a server of skills that is confined can open nothing but its
// directory and its journals. The attack is a hole in the resolver: here the process
// opens what lies outside by itself.
func TestConfineServer(t *testing.T) {
	if top := os.Getenv("PINFOLD_TEST_CONFINED"); top != "" {
		tryConfined(top)
	}
	top := t.TempDir()
	for _, dir := range []string{"root", "journals", "outside"} {
		require.NoError(t, os.Mkdir(filepath.Join(top, dir), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(top, dir, "file"), []byte("x"), 0o600))
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestConfineServer$")
	cmd.Env = append(os.Environ(), "PINFOLD_TEST_CONFINED="+top)
	out, err := cmd.CombinedOutput()
	assert.NoError(t, err, "%s", out)
}

// tryConfined ends the process: with 0 if it was as it has to be.
func tryConfined(top string) {
	outside := filepath.Join(top, "outside", "file")
	_, free := os.ReadFile(outside)
	r, err := pathresolver.New(pathresolver.Config{Root: filepath.Join(top, "root"), WritePaths: []string{"."}})
	if err == nil {
		err = confineServer(r, filepath.Join(top, "journals"))
	}
	err = errors.Join(free, err)
	for _, dir := range []string{"root", "journals"} {
		at := filepath.Join(top, dir, "file")
		_, read := os.ReadFile(at)
		err = errors.Join(err, read, os.WriteFile(at, []byte("y"), 0o600), os.Rename(at, at+"2"), os.Remove(at+"2"))
	}
	_, read := os.ReadFile(outside)
	for what, got := range map[string]error{
		"reading": read, "writing": os.WriteFile(outside+"2", nil, 0o600), "removing": os.Remove(outside),
	} {
		if !errors.Is(got, fs.ErrPermission) {
			err = errors.Join(err, errors.New(what+" outside was not refused"))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
