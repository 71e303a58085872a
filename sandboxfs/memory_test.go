//go:build linux

package sandboxfs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// What a view holds per file is bounded, and goes when the kernel forgets.
func TestMemoryPerFile(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		const dirs, each = 200, 200
		f := planted(t)
		require.NoError(t, unix.Mount("tmpfs", f.root, "tmpfs", 0, "")) // for speed
		defer unix.Unmount(f.root, unix.MNT_DETACH)
		plant(t, f.root, "out/")
		f.start(o, pathresolver.Config{WritePaths: []string{"out"}})
		for d := range dirs {
			dir := f.on(fmt.Sprintf("src/directory-%d", d))
			require.NoError(t, os.MkdirAll(dir, 0o755))
			for i := range each {
				require.NoError(t, write(fmt.Sprintf("%s/file-%d.txt", dir, i), ""))
			}
		}
		before := heap()
		count := 0
		require.NoError(t, filepath.WalkDir(f.in("src"), func(path string, d fs.DirEntry, err error) error {
			if err == nil {
				_, err = d.Info()
			}
			count++
			return err
		}))
		require.Greater(t, count, dirs*each)
		require.Greater(t, f.v.Stats().Nodes, dirs*each)
		perFile := float64(heap()-before) / float64(count)
		t.Logf("%.0f bytes a file", perFile)
		require.Less(t, perFile, 250.0)

		if !isRoot() {
			return // cannot have the kernel forget
		}
		eventually(t, 20*time.Second, func() bool {
			require.NoError(t, os.WriteFile("/proc/sys/vm/drop_caches", []byte("2"), 0))
			return f.v.Stats().Nodes < 100
		}, "forgotten")
		require.Less(t, heap()-before, int64(count)*50, "what is left after forgetting")
	})
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
