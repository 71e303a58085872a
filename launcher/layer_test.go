//go:build linux

package launcher

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A layer shows the host's directory and what was written to it, keeps what is written
// for the next run, and changes nothing of the host's.
func TestLayer(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, outside := project(t, uid)
		cache, state := filepath.Join(outside, "user/.cache/tool"), filepath.Join(outside, "state")
		require.NoError(t, os.MkdirAll(cache+"/dir", 0o755))
		for _, dir := range []string{"/upper", "/work"} {
			require.NoError(t, os.MkdirAll(state+dir, 0o700))
		}
		require.NoError(t, os.WriteFile(cache+"/dir/old", []byte("old\n"), 0o644))
		require.NoError(t, os.WriteFile(cache+"/gone", []byte("gone\n"), 0o644))
		own(t, uid, filepath.Dir(root))
		j := job{UID: uid, Root: root, UserHome: outside + "/user", Layers: []Layer{{Path: cache, Dir: state}}}
		sh := func(script string) outcome {
			j.Command = []string{"sh", "-c", script}
			return run(t, j, nil)
		}
		got := sh("cd " + cache + "; cat dir/old; echo new > dir/old; rm gone; mkdir -p more; echo x > more/x; mv more/x dir/y; rmdir more; ls -d ~/.cache; ls " + state + "; chmod u+s dir/y; touch dir/..")
		assert.Equal(t, "old\n"+outside+"/user/.cache\n", got.out, got.errOut)
		assert.Contains(t, got.errOut, state, "the layer itself is not reachable elsewhere")
		assert.Contains(t, got.errOut, "chmod", "no set-user-id bit reaches the host's disk")
		got = sh("cd " + cache + "; cat dir/old; echo *; echo dir/*; touch /tmp/works")
		assert.Equal(t, "new\ndir\ndir/old dir/y\n", got.out, "the next run finds it: %s", got.errOut)
		for name, want := range map[string]string{"dir/old": "old\n", "gone": "gone\n"} {
			data, err := os.ReadFile(filepath.Join(cache, name))
			require.NoError(t, err)
			assert.Equal(t, want, string(data), "the host's own")
		}
		assert.NoFileExists(t, cache+"/dir/y")
		assert.NoDirExists(t, cache+"/more")

		// Without the host's directory there is the layer alone, and nothing is made outside.
		j.Layers[0].Own = true
		got = sh("cd " + cache + "; cat dir/old; ls; echo z > z")
		assert.Contains(t, got.out, "new\n", got.errOut)
		assert.FileExists(t, state+"/upper/z")
		j.Layers[0] = Layer{Path: outside + "/user/none/cache", Dir: state}
		got = sh("cat ~/none/cache/z")
		assert.Equal(t, "z\n", got.out, got.errOut)
		assert.NoDirExists(t, outside+"/user/none")
	})
}

// What a file's attributes say of other places is not followed: a directory that claims
// to be a copy of another one (redirect) shows what it holds.
func TestLayerFollowsNoAttribute(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, outside := project(t, uid)
		cache, state := filepath.Join(outside, "cache"), filepath.Join(outside, "state")
		require.NoError(t, os.MkdirAll(cache+"/hidden", 0o755))
		require.NoError(t, os.WriteFile(cache+"/hidden/key", []byte("KEY\n"), 0o644))
		require.NoError(t, os.MkdirAll(state+"/upper/hidden", 0o700))
		require.NoError(t, os.MkdirAll(state+"/upper/bait", 0o700))
		require.NoError(t, os.MkdirAll(state+"/work", 0o700))
		require.NoError(t, unix.Setxattr(state+"/upper/hidden", "user.overlay.opaque", []byte("y"), 0))
		require.NoError(t, unix.Setxattr(state+"/upper/bait", "user.overlay.redirect", []byte("/hidden"), 0))
		own(t, uid, filepath.Dir(root))
		j := job{UID: uid, Root: root, Layers: []Layer{{Path: cache, Dir: state}}, Command: []string{"sh", "-c", "cd " + cache +
			"; find . -name key; rmdir hidden; find . -name key; mkdir hidden; find . -name key; mv hidden other; mkdir hidden; find . -name key; echo end"}}
		got := run(t, j, nil)
		assert.Equal(t, "end\n", got.out, got.errOut)
		require.NoError(t, os.RemoveAll(state+"/upper"))
		require.NoError(t, os.Mkdir(state+"/upper", 0o700))
		own(t, uid, state)
		got = run(t, j, nil)
		assert.Contains(t, got.out, "./hidden/key\n", "without the mark: %s", got.errOut)
	})
}

// What cannot be had is refused, and nothing runs.
func TestLayerRefused(t *testing.T) {
	root, outside := project(t, os.Getuid())
	cache, state := filepath.Join(outside, "cache"), filepath.Join(outside, "state")
	require.NoError(t, os.MkdirAll(cache, 0o755))
	require.NoError(t, os.MkdirAll(state+"/work", 0o755))
	j := job{Root: root, Layers: []Layer{{Path: cache, Dir: state}}, Command: []string{"echo", "ran"}}
	got := run(t, j, nil)
	assert.Equal(t, ExitSetup, got.code)
	assert.Contains(t, got.errOut, "lay a private layer over the cache "+cache)
	require.NoError(t, os.Symlink(outside, state+"/upper"))
	got = run(t, j, nil)
	assert.Equal(t, ExitSetup, got.code, "a link is not followed")
	require.NoError(t, os.Remove(state+"/upper"))
	require.NoError(t, os.Mkdir(state+"/upper", 0o755))
	got = run(t, j, nil)
	assert.Equal(t, "ran\n", got.out, got.errOut)
	require.NoError(t, os.RemoveAll(cache))
	require.NoError(t, os.WriteFile(cache, nil, 0o644))
	got = run(t, j, nil)
	assert.Equal(t, ExitSetup, got.code)
	assert.Contains(t, got.errOut, "not a directory")
	assert.Empty(t, got.out)
}
