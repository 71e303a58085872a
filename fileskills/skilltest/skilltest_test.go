package skilltest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/fileskills/skilltest"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// TestOnDisk is the contract over the path resolver.
func TestOnDisk(t *testing.T) {
	for _, walker := range []bool{false, true} {
		t.Run(map[bool]string{false: "default", true: "walker"}[walker], func(t *testing.T) {
			skilltest.Run(t, func(t *testing.T, w skilltest.World) skilltest.Surface {
				root := t.TempDir()
				require.NoError(t, w.Put(root))
				r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: w.WritePaths, ForceWalker: walker})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, r.Close()) })
				set, err := fileskills.New(fileskills.Config{Resolver: r, Enable: w.Enable})
				require.NoError(t, err)
				return skilltest.OnSet(set, skilltest.Beneath(root))
			})
		})
	}
}

// TestInMemory is the contract over the FS for users' tests.
func TestInMemory(t *testing.T) {
	skilltest.Run(t, func(t *testing.T, w skilltest.World) skilltest.Surface {
		fsys, mem := skilltest.Mem(w.Files, w.WritePaths...)
		set, err := fileskills.New(fileskills.Config{FS: fsys, Enable: w.Enable})
		require.NoError(t, err)
		return skilltest.OnSet(set, func(place string) (string, bool) {
			data, err := afero.ReadFile(mem, filepath.Join("/", place))
			return string(data), err == nil
		})
	})
}

// TestPut: names of a world that lead out are refused.
func TestPut(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "root")
	require.NoError(t, os.Mkdir(root, 0o755))
	require.Error(t, skilltest.World{Files: map[string]string{"../evil": "x"}}.Put(root))
	require.NoFileExists(t, filepath.Join(base, "evil"))
	require.NoError(t, skilltest.World{Files: map[string]string{"a/b": "x"}}.Put(root))
	require.FileExists(t, filepath.Join(root, "a/b"))
}
