//go:build unix

package fileskills

import (
	"errors"
	"os"
	"syscall"
)

// syncDir brings the names in a directory to the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// onlyOurs makes sure that nobody else can have put a journal into a
// directory, which would be carried out: it is no link, it is the user's, and
// others may not write it.
func onlyOurs(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(st.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return errors.New("it is not a directory that belongs to this user and that nobody else may write")
	}
	return nil
}
