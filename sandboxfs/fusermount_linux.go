package sandboxfs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/helper"
)

// fusermountMount mounts for an ordinary user. The program opens /dev/fuse
// and sends the descriptor back (fusermount3(1), _FUSE_COMMFD).
func fusermountMount(path, options string) (fd int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer closeFD(pair[0])
	theirs := os.NewFile(uintptr(pair[1]), "fusermount3")
	program, err := helper.Path("fusermount3")
	if err != nil {
		_ = theirs.Close()
		return -1, err
	}
	cmd := exec.Command(program, "-o", options, "--", path)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "_FUSE_COMMFD=3"} // it may start mount(8)
	cmd.ExtraFiles = []*os.File{theirs}
	out, err := cmd.CombinedOutput()
	_ = theirs.Close()
	if err != nil {
		return -1, fmt.Errorf("fusermount3: %w: %s", err, strings.TrimSpace(string(out)))
	}
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(pair[0], make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("fusermount3: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err == nil && len(messages) == 1 {
		if fds, err := unix.ParseUnixRights(&messages[0]); err == nil && len(fds) == 1 {
			return fds[0], nil
		}
	}
	return -1, errors.New("fusermount3 sent no descriptor")
}

// fusermountUnmount unmounts for an ordinary user, lazily where it is busy.
func fusermountUnmount(path string) (lazily bool, err error) {
	program, err := helper.Path("fusermount3")
	if err != nil {
		return false, err
	}
	if exec.Command(program, "-u", "--", path).Run() == nil {
		return false, nil
	}
	out, err := exec.Command(program, "-u", "-z", "--", path).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("fusermount3: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return true, err
}
