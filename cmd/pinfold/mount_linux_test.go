package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCheckRefusesAMountOfOthers shows path_mount: root's view lies beneath
// the root of an ordinary user, who may not look into it.
func TestCheckRefusesAMountOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		return // it takes two users
	}
	dir := openDir(t)
	binary := filepath.Join(dir, "pinfold")
	copySelf(t, binary)
	mnt := filepath.Join(dir, "project", "mnt")
	require.NoError(t, os.MkdirAll(mnt, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "shown"), 0o755))
	out, err := exec.Command(binary, "mount", "-C", filepath.Join(dir, "shown"), mnt).CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() { unmountAll(t, dir) })

	check := func() (string, error) {
		cmd := exec.Command(binary, "check", "-C", "project", "-w", "mnt/x")
		cmd.Dir = dir
		cmd.Env = []string{"HOME=/nonexistent"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	text, err := check()
	require.Error(t, err)
	require.Equal(t, "error[path_mount] write_paths[0]: allowed_write_path 'mnt/x' crosses a mount that cannot be admitted\n"+
		"1 error, 0 warnings\n", text)

	out, err = exec.Command(binary, "unmount", mnt).CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err = check()
	require.NoError(t, err)
	require.Equal(t, "ok: 1 write path beneath 'project'\n", text)
}
