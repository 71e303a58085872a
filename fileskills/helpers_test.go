package fileskills

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// How long tests wait for something that another goroutine does.
const (
	deadline = 20 * time.Second
	tick     = time.Millisecond
)

// world is one sandbox: files are read from cwd and written beneath out.
type world struct {
	t    *testing.T
	base string // holds root and outside
	root string
	set  *Set
}

// newWorld makes base/root with ok.txt and out/, and base/outside/secret.
func newWorld(t *testing.T, change ...func(*Config)) *world {
	return newWorldWith(t, pathresolver.Config{WritePaths: []string{"out"}}, change...)
}

func newWorldWith(t *testing.T, rc pathresolver.Config, change ...func(*Config)) *world {
	t.Helper()
	w := &world{t: t, base: t.TempDir()}
	w.root = filepath.Join(w.base, "root")
	require.NoError(t, os.MkdirAll(filepath.Join(w.root, "out"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(w.base, "outside"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(w.base, "outside", "secret"), []byte("secret\n"), 0o644))
	w.write("ok.txt", "ok\n")
	rc.Root = w.root
	r, err := pathresolver.New(rc)
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	c := Config{Resolver: r, Enable: []string{"delete_file"}}
	for _, f := range change {
		f(&c)
	}
	w.set, err = New(c)
	require.NoError(t, err)
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.root, name) }

func (w *world) write(name, content string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(w.path(name), []byte(content), 0o644))
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.path(name))
	require.NoError(w.t, err)
	return string(b)
}

type args map[string]any

func (w *world) call(skill string, a args) (*Result, error) {
	w.t.Helper()
	input, err := json.Marshal(a)
	require.NoError(w.t, err)
	return w.set.Call(context.Background(), skill, input)
}

// ok wants a call to succeed.
func (w *world) ok(skill string, a args) *Result {
	w.t.Helper()
	res, err := w.call(skill, a)
	require.NoError(w.t, err)
	return res
}

// refused wants a call to fail with a code.
func (w *world) refused(code Code, skill string, a args) *Error {
	w.t.Helper()
	res, err := w.call(skill, a)
	require.Error(w.t, err, "%+v", res)
	var e *Error
	require.ErrorAs(w.t, err, &e)
	require.Equal(w.t, code, e.Code, "%v", e)
	return e
}

// names lists a directory.
func (w *world) names(dir string) []string {
	w.t.Helper()
	entries, err := os.ReadDir(w.path(dir))
	require.NoError(w.t, err)
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
