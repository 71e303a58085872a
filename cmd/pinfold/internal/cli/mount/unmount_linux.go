package mount

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/internal/helper"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
)

// viewType is the file system type of a view in /proc/self/mountinfo.
const viewType = "fuse.pinfold"

// unmount takes away the topmost view at mnt and the parts mounted in it,
// the inner ones first; lazily is true where something still used one.
func unmount(mnt string) (lazily bool, err error) {
	at, err := mountPoint(mnt)
	if err != nil {
		return false, err
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return false, err
	}
	defer f.Close()
	parts, err := viewMounts(f, at)
	if err != nil {
		return false, err
	}
	if len(parts) == 0 {
		return false, cli.UsageError(fmt.Errorf("%q is not a view that pinfold mounted", mnt), "")
	}
	for i := len(parts) - 1; i >= 0; i-- {
		late, err := UnmountOne(parts[i], false)
		if err != nil {
			return lazily, fmt.Errorf("unmount %q: %w", parts[i], err)
		}
		lazily = lazily || late
	}
	return lazily, nil
}

// mountPoint is the absolute path of mnt without links. mnt itself is not
// looked at: the server behind it may be dead.
func mountPoint(mnt string) (string, error) {
	abs, err := filepath.Abs(mnt)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(abs)), nil
}

// viewMounts lists the topmost view at a mount point and the parts in it, in
// mount order (proc_pid_mountinfo(5)).
func viewMounts(mountinfo io.Reader, at string) ([]string, error) {
	var found []string
	lines := bufio.NewScanner(mountinfo)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		dash := 6
		for dash < len(fields) && fields[dash] != "-" {
			dash++ // optional fields
		}
		if dash+1 >= len(fields) || fields[dash+1] != viewType {
			continue
		}
		switch point := hostpath.Unescape(fields[4]); {
		case point == at:
			found = []string{point} // it covers what was mounted here before
		case len(found) > 0 && strings.HasPrefix(point, at+"/"):
			found = append(found, point)
		}
	}
	return found, lines.Err()
}

// UnmountOne unmounts one part. If it is in use it is detached, and with force its
// connection is ended. If somebody else has unmounted it already, that is fine.
func UnmountOne(at string, force bool) (lazily bool, err error) {
	if os.Geteuid() != 0 {
		return fusermount(at)
	}
	busy := unix.MNT_DETACH
	if force {
		busy |= unix.MNT_FORCE
	}
	if err = unix.Unmount(at, unix.UMOUNT_NOFOLLOW); err == unix.EBUSY {
		lazily, err = true, unix.Unmount(at, unix.UMOUNT_NOFOLLOW|busy)
	}
	if err == unix.EINVAL || err == unix.ENOENT {
		err = nil
	}
	return lazily, err
}

// fusermount unmounts for an ordinary user, who may do so with nothing else.
func fusermount(at string) (lazily bool, err error) {
	program, err := helper.Path("fusermount3")
	if err != nil {
		return false, err
	}
	if exec.Command(program, "-u", "--", at).Run() == nil {
		return false, nil
	}
	out, err := exec.Command(program, "-u", "-z", "--", at).CombinedOutput()
	if err != nil {
		return false, fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return true, nil
}

// notMounted refuses a mount point where a view stands already: a second one
// would hide it, and the next unmount bring it back.
func notMounted(mnt string) error {
	at, err := mountPoint(mnt)
	if err != nil {
		return err
	}
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	defer f.Close()
	parts, err := viewMounts(f, at)
	if err != nil || len(parts) == 0 {
		return err
	}
	server := ""
	if pid := serverOf(at); pid != "" {
		server = ", served by process " + pid
	}
	return cli.UsageError(fmt.Errorf("%q shows a view already%s", mnt, server), "'pinfold unmount' takes it away; or name another directory")
}

// serverOf finds the process that serves the FUSE connection mounted at a place
// by what /proc says of its descriptors; "" where that is not to be seen.
func serverOf(at string) string {
	var sx unix.Statx_t // which asks the kernel alone: the server may hang
	if unix.Statx(unix.AT_FDCWD, at, unix.AT_SYMLINK_NOFOLLOW|unix.AT_STATX_DONT_SYNC, 0, &sx) != nil {
		return ""
	}
	mark := fmt.Appendf(nil, "\nfuse_connection:\t%d\n", sx.Dev_minor)
	infos, _ := filepath.Glob("/proc/[0-9]*/fdinfo/*")
	for _, info := range infos {
		text, err := os.ReadFile(info)
		if err == nil && bytes.Contains(text, mark) {
			return filepath.Base(filepath.Dir(filepath.Dir(info)))
		}
	}
	return ""
}
