//go:build linux

package sandboxfs_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// No way of making or changing a file leaves a set-user-id program on the host.
func TestNoSetUserID(t *testing.T) {
	const bits = unix.S_ISUID | unix.S_ISGID
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := beneathOut(t, o, "out/x=1", "out/host=1", "out/d/")
		for _, c := range []struct {
			name string
			do   func() error
			want error
		}{
			{"x", func() error { return unix.Chmod(f.in("out/x"), 0o4755) }, syscall.EPERM},
			{"x", func() error { return unix.Chmod(f.in("out/x"), 0o2755) }, syscall.EPERM},
			{"created", func() error {
				fd, err := unix.Open(f.in("out/created"), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o6777)
				if err == nil {
					err = unix.Close(fd)
				}
				return err
			}, nil},
			{"node", func() error { return unix.Mknod(f.in("out/node"), unix.S_IFREG|0o6755, 0) }, nil},
		} {
			require.ErrorIs(t, c.do(), c.want)
			var st unix.Stat_t
			require.NoError(t, unix.Lstat(f.on("out/"+c.name), &st))
			require.Zero(t, st.Mode&bits, c.name)
		}
		require.NoError(t, unix.Chmod(f.in("out/d"), 0o2755), "directories hand down their group")
		require.NoError(t, unix.Chmod(f.on("out/host"), 0o4755), "on the host")
		eventually(t, bound, func() bool {
			info, err := os.Stat(f.in("out/host"))
			return err == nil && info.Mode()&os.ModeSetuid != 0
		}, "what the host gave stays")
		require.NoError(t, unix.Chmod(f.in("out/host"), 0o4711))
	})
}

// An access list of the host holds for the users that are let in.
func TestAccessLists(t *testing.T) {
	if !isRoot() {
		return // nobody else is here
	}
	o := arrangements["root"]
	o.AllowOther = true
	f := beneathOut(t, o, "src/x=1", "src/free=1", "out/x=1", "out/free=1")
	open(t, f)
	list := binary.LittleEndian.AppendUint32(nil, 2)
	for _, entry := range []struct {
		tag, perm uint16
		id        uint32
	}{{0x01, 6, ^uint32(0)}, {0x02, 0, 65534}, {0x04, 4, ^uint32(0)}, {0x10, 4, ^uint32(0)}, {0x20, 4, ^uint32(0)}} {
		list = binary.LittleEndian.AppendUint16(list, entry.tag)
		list = binary.LittleEndian.AppendUint16(list, entry.perm)
		list = binary.LittleEndian.AppendUint32(list, entry.id)
	}
	for _, part := range []string{"src", "out"} {
		require.NoError(t, unix.Setxattr(f.on(part+"/x"), "system.posix_acl_access", list, 0))
		read := func(path string) error {
			cmd := exec.Command("/bin/cat", path)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			return cmd.Run()
		}
		require.Error(t, read(f.on(part+"/x")), "on the host")
		require.Error(t, read(f.in(part+"/x")))
		require.NoError(t, read(f.in(part+"/free")))
	}
}
