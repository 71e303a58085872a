package integration

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// renameTries is how often the guarded race is run; without the guard a
// few thousand are enough.
const renameTries = 20_000

// TestAttackRenameRace: what is renamed changes from a file to a directory
// between the decision and the act. No protected name may come into being.
func TestAttackRenameRace(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			s := newSite(t, os.Geteuid(), false)
			for _, dir := range []string{".git", "work/dir/x/hooks"} {
				require.NoError(t, os.MkdirAll(s.root+"/"+dir, 0o755))
			}
			require.NoError(t, os.WriteFile(filepath.Join(s.root, "work", "f"), nil, 0o644))
			r, err := pathresolver.New(pathresolver.Config{Root: s.root, WritePaths: []string{"."}, ForceWalker: mode == "walker"})
			require.NoError(t, err)
			defer r.Close()

			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for {
					select {
					case <-stop:
						return
					default:
						_ = unix.Renameat2(unix.AT_FDCWD, filepath.Join(s.root, "work", "f"), unix.AT_FDCWD, filepath.Join(s.root, "work", "dir"), unix.RENAME_EXCHANGE)
					}
				}
			}()
			defer func() { close(stop); <-stopped }()
			planted := func(rename func() error) bool {
				if rename() != nil {
					return false
				}
				_, err := os.Stat(s.root + "/.git/modules/x/hooks")
				_ = os.Rename(s.root+"/.git/modules", filepath.Join(s.root, "work", "f"))
				return err == nil
			}
			for range renameTries {
				require.False(t, planted(func() error {
					return r.Rename("work/f", ".git/modules", pathresolver.RenameReplace)
				}))
			}
			require.Eventually(t, func() bool {
				return planted(func() error { return os.Rename(filepath.Join(s.root, "work", "f"), s.root+"/.git/modules") })
			}, attackLimit, time.Microsecond, "the race is never won where nobody decides")
		})
	}
}
