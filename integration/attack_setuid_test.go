package integration

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
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
			require.Empty(t, setIDs(t, s))
			s = a.site(t, run.uid)
			a.outside(t, s)
			require.NotEmpty(t, setIDs(t, s))
		})
	}
}

// setIDs lists the files with set-user-id or set-group-id bits.
func setIDs(t *testing.T, s *site) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(s.root + "/work")
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		if info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			found = append(found, e.Name())
		}
	}
	return found
}
