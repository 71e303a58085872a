package hostpath

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	m, err := parseMounts(strings.NewReader(`1 0 8:1 / / rw - ext4 /dev/sda rw
2 1 8:2 / /data rw shared:1 - ext4 /dev/sdb rw
3 1 8:2 /homes/me /home/me rw - ext4 /dev/sdb rw
4 1 8:2 /homes /mnt/all\040homes rw - ext4 /dev/sdb rw
5 1 0:9 / /tmp rw - tmpfs tmpfs rw
short line
6 3 8:1 /etc/pinfold /home/me/etc rw - ext4 /dev/sda rw
`))
	require.NoError(t, err)
	for real, want := range map[string][]string{
		"/home/me/.ssh":       {"/home/me/.ssh", "/data/homes/me/.ssh", "/mnt/all homes/me/.ssh"},
		"/data/homes/me/.ssh": {"/data/homes/me/.ssh", "/home/me/.ssh", "/mnt/all homes/me/.ssh"},
		"/data/homes":         {"/data/homes", "/mnt/all homes"},
		"/data/other":         {"/data/other"},
		"/etc/pinfold/token":  {"/etc/pinfold/token", "/home/me/etc/token"},
		"/home/me/etc":        {"/home/me/etc", "/etc/pinfold"},
		"/home/mean":          {"/home/mean"},
		"/tmp/x":              {"/tmp/x"},
		"/":                   {"/"},
	} {
		assert.Equal(t, want, m.Names(real), real)
	}
	assert.Equal(t, []string{"/x"}, Mounts(nil).Names("/x"))
	for i := range 2 * maxNames {
		m = append(m, mount{"8:2", "/", fmt.Sprintf("/mnt/%d", i)})
	}
	assert.Len(t, m.Names("/data/other"), maxNames)
}

func TestReadMounts(t *testing.T) {
	m, err := ReadMounts()
	require.NoError(t, err)
	_, err = os.Stat("/proc/self/mountinfo")
	assert.Equal(t, err == nil, len(m) > 0)
}

func TestBeneath(t *testing.T) {
	for _, c := range []struct {
		path, dir, rest string
		ok              bool
	}{
		{"/a/b", "/a", "b", true}, {"/a", "/a", ".", true}, {"/a", "/", "a", true}, {"/", "/", ".", true},
		{"/ab", "/a", "", false}, {"/a", "/a/b", "", false},
	} {
		rest, ok := Beneath(c.path, c.dir)
		assert.Equal(t, c.ok, ok, c.path+" "+c.dir)
		if ok {
			assert.Equal(t, c.rest, rest)
		}
	}
}

func TestResolve(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	at := func(p string) string { return filepath.Join(base, p) }
	require.NoError(t, os.MkdirAll(at("home/versions/1"), 0o755))
	require.NoError(t, os.MkdirAll(at("keys"), 0o755))
	require.NoError(t, os.WriteFile(at("home/versions/1/tool"), nil, 0o644))
	for link, to := range map[string]string{
		"home/tool": "versions/1/tool", "home/out": "../keys", "home/loop": "loop", "home/abs": at("keys"),
		"in": "home", "chain": "in/out", "round": "home/versions/../../keys", "back": "home/out/../home/tool",
	} {
		require.NoError(t, os.Symlink(to, at(link)))
	}
	home := []string{at("home")}
	for name, want := range map[string]struct {
		real, planted string
		links         int
	}{
		"home/versions/1/tool": {"home/versions/1/tool", "", 0},
		"home/tool":            {"home/versions/1/tool", "", 1},
		"in/tool":              {"home/versions/1/tool", "", 2},
		"home/out":             {"keys", "home/out", 1},
		"home/abs":             {"keys", "home/abs", 1},
		"chain":                {"keys", "home/out", 3},
		"round":                {"keys", "", 1},
		"back":                 {"home/versions/1/tool", "", 3}, // leads out and in again
		"home/../keys":         {"keys", "", 0},
	} {
		p, err := Resolve(at(name))
		require.NoError(t, err, name)
		assert.Equal(t, at(want.real), p.Real, name)
		assert.Len(t, p.Links, want.links, name)
		link, found := p.Planted(home)
		assert.Equal(t, want.planted != "", found, name)
		if found {
			assert.Equal(t, at(want.planted), link)
		}
		_, found = p.Planted([]string{at("keys"), at("hom")})
		assert.False(t, found, "%s: nobody writes where its links lie", name)
		real, err := filepath.EvalSymlinks(at(name))
		require.NoError(t, err)
		assert.Equal(t, real, p.Real)
	}
	for _, name := range []string{"home/loop", "missing", "home/tool/x"} {
		_, err := Resolve(at(name))
		assert.Error(t, err, name)
	}
}

func TestFollow(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	at := func(p string) string { return filepath.Join(base, p) }
	require.NoError(t, os.MkdirAll(at("in/deep"), 0o755))
	require.NoError(t, os.WriteFile(at("file"), nil, 0o644))
	for link, to := range map[string]string{"in/up": "../other/missing", "in/twice": "up", "other": "in/deep", "in/loop": "loop"} {
		require.NoError(t, os.Symlink(to, at(link)))
	}
	for name, want := range map[string]string{
		"file": "file", "in/up": "in/deep/missing", "in/twice": "in/deep/missing", "in/twice/x/../y": "in/deep/missing/y",
		"other/../new": "in/new", "none/../new": "new",
	} {
		p, err := Follow(base + "/" + name)
		require.NoError(t, err, name)
		assert.Equal(t, at(want), p.Real, name)
	}
	for _, name := range []string{"in/loop", "file/x"} {
		_, err := Follow(at(name))
		assert.Error(t, err, name)
	}
}

// Open leads over no link, wherever one stands, and makes nothing behind it.
func TestOpen(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // the others follow links
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(base, "a/b"), 0o755))
	require.NoError(t, os.Symlink("a", filepath.Join(base, "link")))
	require.NoError(t, os.Symlink("later", filepath.Join(base, "a/b/last")))
	for name, led := range map[string]bool{"a/b/file": false, "link/b/file": true, "a/b/last": true} {
		for _, open := range []struct {
			name    string
			follows bool
			f       func(string, int, os.FileMode) (*os.File, error)
		}{{"Open", false, Open}, {"os.OpenFile", true, os.OpenFile}} {
			f, err := open.f(filepath.Join(base, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if led && !open.follows {
				require.Error(t, err, name)
				require.NoFileExists(t, filepath.Join(base, "a/b/later"))
				continue
			}
			require.NoError(t, err, "%s of %s", open.name, name)
			require.NoError(t, f.Close())
			real, err := filepath.EvalSymlinks(filepath.Join(base, name))
			require.NoError(t, err)
			require.NoError(t, os.Remove(real))
		}
	}
	for _, name := range []string{"a/b", "/", ""} {
		_, err := Open(name, os.O_RDONLY, 0)
		require.Error(t, err, name)
	}
}

func TestPlace(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(base, "real"), 0o755))
	require.NoError(t, os.Symlink("real", filepath.Join(base, "link")))
	require.NoError(t, os.WriteFile(filepath.Join(base, "file"), nil, 0o644))
	for name, exists := range map[string]bool{"": true, "/a": false, "/a/b": false} {
		real, there, err := Place(base + "/link" + name)
		require.NoError(t, err)
		assert.Equal(t, exists, there)
		assert.Equal(t, filepath.Join(base, "real", name), real)
	}
	require.NoError(t, os.Symlink("loop", filepath.Join(base, "loop")))
	for name, unreachable := range map[string]bool{"/file/x": true, "/file/x/y": true, "/loop/x": false} {
		_, _, err := Place(base + name)
		assert.Error(t, err, name)
		assert.Equal(t, unreachable, Unreachable(err), name)
	}
	for _, name := range []string{"relative", ""} {
		_, _, err := Place(name)
		assert.Error(t, err, name)
	}
}
