//go:build linux

package sandboxfs_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// A long directory is listed whole, without what is hidden, and a second time from what
// the kernel has kept. What the host and the view change in it is seen all the same.
func TestLongListing(t *testing.T) {
	const files = 1000
	defer sandboxfs.ForeseeAtMost(files / 2)()
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := planted(t, "big/")
		for i := range files {
			require.NoError(t, write(f.on("big/file"+itoa(i)), ""))
		}
		require.NoError(t, write(f.on("big/secret"), ""))
		// As if it was not changed just now.
		old := time.Now().Add(-time.Hour)
		require.NoError(t, os.Chtimes(f.on("big"), old, old))
		f.start(o, pathresolver.Config{WritePaths: []string{"."}, Hide: []string{"**/secret"}})
		list := func() []string {
			entries, err := os.ReadDir(f.in("big"))
			require.NoError(t, err)
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return names
		}
		first := list()
		require.Len(t, first, files)
		require.NotContains(t, first, "secret")

		eventually(t, bound, func() bool {
			before := f.v.Stats().Requests
			require.Equal(t, first, list())
			return f.v.Stats().Requests-before < 5
		}, "the kernel has kept it, and asks for nothing")
		// And not only as long as any listing is kept.
		for kept, most := time.Now(), uint64(0); time.Since(kept) < 4*sandboxfs.FreshListing; {
			before := f.v.Stats().Requests
			require.Equal(t, first, list())
			most = max(most, f.v.Stats().Requests-before)
			require.Less(t, most, uint64(5), "requests for one listing")
		}

		require.NoError(t, write(f.in("big/inside"), ""))
		require.Contains(t, list(), "inside", "made in the view")
		require.NoError(t, os.Chtimes(f.on("big"), old, old))
		list() // kept again
		require.NoError(t, write(f.on("big/outside"), ""))
		eventually(t, bound, func() bool { return slices.Contains(list(), "outside") }, "made by the host")
		require.NoError(t, os.Remove(f.on("big/file7")))
		eventually(t, bound, func() bool { return !slices.Contains(list(), "file7") }, "removed by the host")
	})
}
