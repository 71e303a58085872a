//go:build !portable

package pathresolver_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// read opens a path for reading and says what came of it.
func read(r *pathresolver.Resolver, path string) string {
	f, err := r.Open(path)
	if err != nil {
		return strings.ReplaceAll(err.Error(), r.Root(), "ROOT")
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return fmt.Sprint("a directory, ", err)
	}
	data, err := io.ReadAll(f)
	return fmt.Sprintf("%q, %v", data, err)
}

// With rules about reading the kernel follows the links of a path, and tells where it
// arrived. What may be read, and what is said, is what the walker says of every path
// through a tree of links that was drawn at random.
func TestLinksAsTheWalker(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	names := []string{"a", "b", "secret", ".env", "c (deleted)"}
	pick := func() string { return names[rnd.IntN(len(names))] }
	way := func() string {
		parts := make([]string, 1+rnd.IntN(4))
		for i := range parts {
			if parts[i] = pick(); rnd.IntN(4) == 0 {
				parts[i] = ".."
			}
		}
		return strings.Join(parts, "/")
	}
	followed := 0
	for range 30 {
		// Links of up to four steps up arrive within what the test removes.
		root := filepath.Join(t.TempDir(), "1/2/3/4/5/root")
		require.NoError(t, os.MkdirAll(root, 0o755))
		for i := range 40 {
			at := filepath.Join(root, strings.ReplaceAll(way(), "..", "d"))
			if os.MkdirAll(filepath.Dir(at), 0o755) != nil {
				continue
			}
			switch rnd.IntN(4) {
			case 0:
				_ = os.WriteFile(at, []byte(fmt.Sprint(i)), 0o644)
			case 1:
				_ = os.Mkdir(at, 0o755)
			default:
				to := way()
				if rnd.IntN(5) == 0 {
					to = filepath.Join(root, to) // it may lead out, too
				}
				_ = os.Symlink(to, at)
			}
		}
		c := pathresolver.Config{Root: root, WritePaths: []string{"."}, Hide: []string{"**/.env", "a/secret"}}
		fast, err := pathresolver.New(c)
		require.NoError(t, err)
		c.ForceWalker = true
		slow, err := pathresolver.New(c)
		require.NoError(t, err)
		for range 300 {
			path := way()
			want := read(slow, path)
			require.Equal(t, want, read(fast, path), path)
			if real, err := filepath.EvalSymlinks(filepath.Join(root, path)); err == nil && real != filepath.Join(root, path) && want[0] == '"' {
				followed++
			}
		}
		require.NoError(t, fast.Close())
		require.NoError(t, slow.Close())
	}
	require.NotZero(t, followed, "a file was read through a link")
}

// What the kernel calls a file is not believed where it cannot be: of a file that was
// removed it adds a word, by which "x/.env" would be no ".env", and after the root was
// moved into itself "f" is called "sub/f", which no rule hides.
func TestNameOfOpenFile(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "root")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "x"), 0o755))
	for _, name := range []string{"f", "g", "x/.env", "x/g"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(name), 0o644))
	}
	require.NoError(t, os.Symlink("x", filepath.Join(root, "link")))
	require.NoError(t, os.Symlink("f", filepath.Join(root, "tof")))
	require.NoError(t, os.Symlink("g", filepath.Join(root, "tog")))
	r, err := pathresolver.New(pathresolver.Config{Root: root, Hide: []string{"f", "**/.env"}})
	require.NoError(t, err)
	defer r.Close()
	refused := func(path string) {
		t.Helper()
		_, err := r.Open(path)
		require.Error(t, err, path)
	}
	require.Equal(t, `"x/g", <nil>`, read(r, "link/g"))
	refused("link/.env")
	refused("tof")

	fd, err := unix.Open(filepath.Join(root, "x/.env"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, os.Remove(filepath.Join(root, "x/.env")))
	_, ok := pathresolver.PlaceOfHandle(r, fd)
	require.False(t, ok, "of a file that was removed")

	require.NoError(t, os.Rename(root, filepath.Join(base, "away")))
	require.NoError(t, os.Mkdir(root, 0o755))
	require.NoError(t, os.Rename(filepath.Join(base, "away"), filepath.Join(root, "sub")))
	refused("tof")
	require.Equal(t, `"g", <nil>`, read(r, "tog"))
}
