package launcher

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// disown makes root's files in a copy of a host's directory count as somebody
// else's, by an idmapped mount. Root needs no capability to read its own
// files; as "other" it reads what everybody may read, and that holds also for
// files that are made or replaced later (passwd(1) renames a new shadow file
// into place, which would shake off anything mounted on the old one).
//
// Some file systems, overlayfs among them, have no idmapped mounts. There the
// secrets that exist in /etc are covered one by one, and the loss is reported.
func (m *mounter) disown(s planStep, fd int) {
	if m.nobody == 0 {
		m.nobody = -1
		if ns, err := mapRootAway(); err == nil {
			m.nobody = ns
		}
	}
	err := error(unix.EINVAL)
	if m.nobody > 0 {
		err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE,
			&unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(m.nobody)})
	}
	if err != nil {
		m.covered = append(m.covered, s.Path)
	}
}

// overflowID is the user that root's files belong to: nobody.
const overflowID = 65534

// mapRootAway makes a user namespace that maps id 0 to nobody and the others
// to themselves, for disown. A namespace needs a process to begin with: one
// that is stopped before its first instruction, and never runs.
func mapRootAway() (int, error) {
	runtime.LockOSThread() // who traces is a thread
	defer runtime.UnlockOSThread()
	ids := []syscall.SysProcIDMap{
		{ContainerID: 0, HostID: overflowID, Size: 1},
		{ContainerID: 1, HostID: 1, Size: overflowID - 1},
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"pinfold"}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER, UidMappings: ids, GidMappings: ids, Ptrace: true, Pdeathsig: syscall.SIGKILL,
	}})
	if err != nil {
		return -1, err
	}
	defer func() {
		_ = unix.Kill(pid, unix.SIGKILL)
		_, _ = unix.Wait4(pid, nil, 0, nil)
	}()
	return unix.Open("/proc/"+strconv.Itoa(pid)+"/ns/user", unix.O_RDONLY|unix.O_CLOEXEC, 0)
}

// coverSecrets covers what lies beneath a bind and only root may read.
func (m *mounter) coverSecrets(s planStep) error {
	for _, secret := range rootOnly(s.From, nil) {
		if err := m.covers.mask(&m.tree, s.Path+secret[len(s.From):]); err != nil {
			return err
		}
	}
	return nil
}

// lost says what covering cannot do.
func (m *mounter) lost() []string {
	if len(m.covered) == 0 {
		return nil
	}
	return []string{strings.Join(m.covered, ", ") + " cannot be mounted with other ids: of the files there that only root may read, " +
		"those that /etc holds now are hidden, the others are not (run it with --user, or not as root)"}
}

// maxMasks bounds what a strange /etc can cost.
const maxMasks = 4096

// rootOnly lists what lies beneath dir and is not readable by everybody:
// shadow files, host keys, private TLS keys and their directories. The rule is
// the mode, not a list of names, so that the secrets of any package are
// covered; what everybody may read is no secret. Directories for whose name pass, if set,
// is true are passed over.
func rootOnly(dir string, pass func(name string) bool) []string {
	var masks []string
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && pass != nil && d.IsDir() && pass(d.Name()) {
			return fs.SkipDir
		}
		if err != nil || len(masks) == maxMasks {
			return fs.SkipDir
		}
		if d.Type()&fs.ModeSymlink != 0 {
			return nil
		}
		info, err := d.Info()
		if err != nil || forAll(info) {
			return nil
		}
		masks = append(masks, p)
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return masks
}

// forAll reports whether everybody may read a file, or pass through a directory, so that
// what is in it is to be looked at.
func forAll(info fs.FileInfo) bool {
	want := fs.FileMode(0o004)
	if info.IsDir() {
		want = 0o001
	}
	return info.Mode()&want != 0
}
