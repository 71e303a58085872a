package integration

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestAttackSetUID: no program is left on the host that runs with the rights
// of who started the run.
func TestAttackSetUID(t *testing.T) {
	for _, s := range surfaces {
		run, ok := s.(runSurface)
		if !ok {
			continue
		}
		t.Run(run.name, func(t *testing.T) {
			a := attack{name: "setuid", policy: []string{"-w", "work"}, files: map[string]string{"work/f": ""}}
			s := a.site(t, run.uid)
			a.inside(t, s)
			require.Empty(t, setIDs(t, s.root+"/work"))
			s = a.site(t, run.uid)
			a.outside(t, s)
			require.NotEmpty(t, setIDs(t, s.root+"/work"))
		})
	}
}

// setIDs lists the files of a directory with set-user-id or set-group-id bits, or
// with capabilities.
func setIDs(t *testing.T, dir string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		caps, _ := unix.Lgetxattr(dir+"/"+e.Name(), xattrCaps, nil)
		if info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 || caps > 0 {
			found = append(found, e.Name())
		}
	}
	return found
}
