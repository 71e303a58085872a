package integration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestAttackSetUID: no program is left on the host that runs with the rights
// of who started the run, or who has the mount.
func TestAttackSetUID(t *testing.T) {
	a := attack{name: "setuid", policy: []string{"-w", "work"}, files: map[string]string{"work/f": ""}}
	for _, user := range users() {
		for name, attack := range map[string]func(t *testing.T, s *site){
			"run": a.inside,
			"mount": func(t *testing.T, s *site) {
				runAttack(t, mountShell(t, s, a.policy, insiderPath+" attack setuid"))
			},
		} {
			t.Run(surfaceOf(name, user.uid), func(t *testing.T) {
				s := a.site(t, user.uid)
				attack(t, s)
				require.FileExists(t, filepath.Join(s.root, "work", "a"), "what has no such bits is made")
				require.Empty(t, setIDs(t, filepath.Join(s.root, "work")))
				s = a.site(t, user.uid)
				a.outside(t, s)
				require.NotEmpty(t, setIDs(t, filepath.Join(s.root, "work")))
				tableRow(t, "set-id-write-path", surfaceOf(name, user.uid))
			})
		}
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
