//go:build linux

package sandboxfs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// However often the reader loop is handed over, each request is answered, once,
// and by as many at a time as may.
func TestEachRequestHandsOver(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := planted(t, "out/")
		f.build(o, pathresolver.Config{WritePaths: []string{"out"}})
		loops, answering := f.v.ColocateAlways()
		require.NoError(t, f.v.Mount(f.mnt))
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				dir := f.in(filepath.Join("out", fmt.Sprint(i)))
				assert.NoError(t, os.Mkdir(dir, 0o755))
				for j := range 100 {
					assert.NoError(t, makeMoveRemove(dir, fmt.Sprint(j), j%2 == 0))
				}
				left, err := os.ReadDir(dir)
				assert.NoError(t, err)
				assert.Len(t, left, 50)
			})
		}
		all.Wait()
		require.Greater(t, loops(), 4*100, "each file is some requests")
		eventually(t, bound, func() bool { return answering() == 0 }, "what is not the reader loop any more ends")
	})
}

// makeMoveRemove makes a file, moves it, and reads it where it is then.
func makeMoveRemove(dir, content string, remove bool) error {
	made, moved := filepath.Join(dir, "new"+content), filepath.Join(dir, content)
	if err := write(made, content); err != nil {
		return err
	}
	if err := os.Rename(made, moved); err != nil {
		return err
	}
	if got, err := os.ReadFile(moved); err != nil || string(got) != content {
		return fmt.Errorf("read %q: %w", got, err)
	}
	if _, err := os.Lstat(made); !os.IsNotExist(err) {
		return fmt.Errorf("the old name: %w", err)
	}
	if remove {
		return os.Remove(moved)
	}
	return nil
}
