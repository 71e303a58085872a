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
		// requests is what the kernel asks for while the directory is listed once.
		requests := func() uint64 {
			before := f.v.Stats().Requests
			list()
			return f.v.Stats().Requests - before
		}
		before := f.v.Stats().Requests
		first := list()
		// Far fewer than for the names: one for the handle, and for attributes now and then.
		few := (f.v.Stats().Requests - before) / 2
		require.Len(t, first, files)
		require.NotContains(t, first, "secret")

		eventually(t, bound, func() bool { return requests() < few }, "the kernel has kept it")
		// And not only as long as any listing is kept.
		for kept := time.Now(); time.Since(kept) < 4*sandboxfs.FreshListing; {
			require.Less(t, requests(), few, "requests for one listing")
		}
		require.Equal(t, first, list())

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
