package mount

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

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
