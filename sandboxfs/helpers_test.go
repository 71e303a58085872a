//go:build linux

package sandboxfs_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// fixture is a tree, and a view of it that is mounted.
type fixture struct {
	t    *testing.T
	root string // the backing tree
	mnt  string // the view
	v    *sandboxfs.View
}

// arrangements are the ways to serve one policy; most tests run in all.
var arrangements = map[string]sandboxfs.Options{
	"root":   {Passthrough: true, DefaultPermissions: true},
	"run":    {Passthrough: true, Unprivileged: true},
	"plain":  {},
	"single": {SingleConnection: true},
}

// eachArrangement runs a test once per arrangement.
func eachArrangement(t *testing.T, test func(t *testing.T, o sandboxfs.Options)) {
	for name, o := range arrangements {
		t.Run(name, func(t *testing.T) { test(t, o) })
	}
}

// plant makes a tree from one-line specs: "dir/", "file=content", "link => target".
func plant(t *testing.T, root string, specs ...string) {
	t.Helper()
	for _, spec := range specs {
		if name, target, ok := strings.Cut(spec, " => "); ok {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
			require.NoError(t, os.Symlink(target, filepath.Join(root, name)))
			continue
		}
		name, content, file := strings.Cut(spec, "=")
		path := filepath.Join(root, name)
		if !file {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
}

// mount plants a tree and mounts a view of it until the test ends.
func mount(t *testing.T, o sandboxfs.Options, cfg pathresolver.Config, specs ...string) *fixture {
	t.Helper()
	f := planted(t, specs...)
	f.start(o, cfg)
	return f
}

// planted is a tree without a view.
func planted(t *testing.T, specs ...string) *fixture {
	t.Helper()
	base := t.TempDir()
	f := &fixture{t: t, root: filepath.Join(base, "root"), mnt: filepath.Join(base, "mnt")}
	require.NoError(t, os.Mkdir(f.root, 0o755))
	require.NoError(t, os.Mkdir(f.mnt, 0o755))
	plant(t, f.root, specs...)
	return f
}

func (f *fixture) start(o sandboxfs.Options, cfg pathresolver.Config) {
	f.t.Helper()
	f.build(o, cfg)
	require.NoError(f.t, f.v.Mount(f.mnt))
}

// build makes a view that is not mounted yet.
func (f *fixture) build(o sandboxfs.Options, cfg pathresolver.Config) {
	f.t.Helper()
	cfg.Root = f.root
	r, err := pathresolver.New(cfg)
	require.NoError(f.t, err)
	o.Logger = testLogger(f.t)
	f.v, err = sandboxfs.New(r, o)
	require.NoError(f.t, err)
	f.t.Cleanup(func() {
		require.NoError(f.t, f.v.Close())
		require.NoError(f.t, r.Close())
	})
}

// in is a path inside the view, on one on the host.
func (f *fixture) in(place string) string { return filepath.Join(f.mnt, place) }
func (f *fixture) on(place string) string { return filepath.Join(f.root, place) }

func (f *fixture) read(path string) string {
	f.t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(f.t, err)
	return string(data)
}

func write(path, content string) error { return os.WriteFile(path, []byte(content), 0o644) }

// eventually polls a condition; within is the bound that is promised.
func eventually(t *testing.T, within time.Duration, condition func() bool, what string) {
	t.Helper()
	require.Eventually(t, condition, within, 2*time.Millisecond, what)
}

// opensWait returns once so many opens wait. One that a signal interrupts is away
// for a moment, until Go's os package opens again.
func opensWait(t *testing.T, f *fixture, count int) {
	t.Helper()
	eventually(t, bound, func() bool { return f.v.Stats().Waiting == count }, "waiting: "+itoa(count))
}

func itoa(n int) string { return strconv.Itoa(n) }
