//go:build !portable

package fileskills

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// P07: what is mounted beneath the root after the start is not searched.
func TestSearchEntersNoNewMount(t *testing.T) {
	if os.Getuid() != 0 {
		return // only root can mount; CI runs both
	}
	w := newWorld(t)
	require.NoError(t, os.Mkdir(w.path("m"), 0o755))
	require.NoError(t, unix.Mount(filepath.Join(w.base, "outside"), w.path("m"), "", unix.MS_BIND, ""))
	t.Cleanup(func() { require.NoError(t, unix.Unmount(w.path("m"), unix.MNT_DETACH)) })
	require.Equal(t, "0 matches (1 unreadable file or directory not searched)", w.ok("grep", args{"pattern": "secret"}).Text)
	w.refused(CodePathBlocked, "grep", args{"pattern": "secret", "path": "m"})
	require.Contains(t, w.read("m/secret"), "secret", "without the guard it is read")
}
