package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func init() { attacks["set-id-home"] = setIDHome }

// homeSite is a project beside a home for the agent.
func homeSite(t *testing.T, uid int) (s *site, home string) {
	t.Helper()
	s = newSite(t, uid, true)
	home = filepath.Join(s.base, "home")
	require.NoError(t, os.Mkdir(home, 0o755))
	s.own()
	return s, home
}

// TestAttackSetIDHome: no program is left in --home that runs with the rights of
// whoever started the run. The home is the host's directory, which no view
// stands before.
func TestAttackSetIDHome(t *testing.T) {
	for _, s := range surfaces {
		run, ok := s.(runSurface)
		if !ok {
			continue
		}
		t.Run(run.name, func(t *testing.T) {
			s, home := homeSite(t, run.uid)
			runAttack(t, pinfoldRun(s, run.uid, modes[0], []string{"--home", home}, insiderPath, "attack", "set-id-home"))
			require.Empty(t, setIDs(t, home))
			require.FileExists(t, home+"/plain", "what has no such bits is made")

			s, home = homeSite(t, run.uid)
			cmd := asUser(run.uid, modes[0], insiderPath, "attack", "set-id-home")
			cmd.Dir, cmd.Env = s.root, append(os.Environ(), "HOME="+home)
			runAttack(t, cmd)
			want := 11
			if run.uid == 0 {
				want++ // an ordinary user has no capabilities to give away
			}
			require.Len(t, setIDs(t, home), want, "the attack does nothing where nobody stops it")
			tableRow(t, "set-id", run.name)
		})
	}
}

// setIDHome leaves programs in the home that run as their owner, by every call
// that takes a mode.
func setIDHome() {
	must(os.Chdir(os.Getenv("HOME")))
	must(os.WriteFile("plain", nil, 0o755))
	made := func(name string) string {
		must(os.WriteFile(name, nil, 0o755))
		return name
	}
	const mode = 0o6755
	byFD := func(name string, do func(fd int) error) {
		fd, err := unix.Open(made(name), unix.O_RDONLY, 0)
		must(err)
		_ = do(fd)
		_ = unix.Close(fd)
	}
	_ = unix.Chmod(made("chmod"), mode) // fchmodat(2)
	_ = unix.Fchmodat(unix.AT_FDCWD, made("fchmodat2"), mode, unix.AT_SYMLINK_NOFOLLOW)
	byFD("fchmod", func(fd int) error { return unix.Fchmod(fd, mode) })
	byFD("by-descriptor", func(fd int) error { return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), mode) })
	_, _ = unix.Open("open", unix.O_CREAT|unix.O_WRONLY, mode)
	_, _ = unix.Open("open-group", unix.O_CREAT|unix.O_WRONLY|unix.O_EXCL, 0o2755)
	_, _ = unix.Openat2(unix.AT_FDCWD, "openat2", &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: mode})
	_ = unix.Mknod("mknod", unix.S_IFREG|mode, 0)
	if fd, err := unix.Open(".", unix.O_TMPFILE|unix.O_WRONLY, mode); err == nil {
		_ = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, "tmpfile", unix.AT_SYMLINK_FOLLOW)
	}
	if fd, err := unix.Creat("creat", mode); err == nil {
		_ = unix.Close(fd)
	}
	_ = os.Mkdir("dir", 0o755)
	_ = unix.Chmod("dir", 0o2755)
	// cap_setuid=ep (capabilities(7), struct vfs_cap_data of version 2).
	_ = unix.Setxattr(made("capability"), xattrCaps, []byte{1, 0, 0, 2, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0)
}

const xattrCaps = "security.capability"
