package launcher

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	attrQuiet    = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	attrReadOnly = attrQuiet | unix.MOUNT_ATTR_RDONLY
	attrDevice   = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC | unix.MOUNT_ATTR_RDONLY
)

// scaffolds are directories that exist everywhere and can be covered while
// the new root is built; the host's own root is left behind afterwards.
var scaffolds = []string{"/tmp", "/run", "/mnt", "/media"}

// mounter carries out the steps of a plan.
type mounter struct {
	tree    tree
	plan    *runPlan
	sources map[string]int // detached copies of what the host shows
	nobody  int            // see disown; 0 until needed, -1 where there is none
	covered []string       // binds whose secrets are covered by name instead
	covers  covers
}

// build makes the new root and carries out p.Steps; mountView is called for
// each mount of the view. The caller must be in a mount namespace of its own.
func build(p *runPlan, mountView func(t *tree, s planStep) error) (t *tree, lost []string, err error) {
	step := func(what string, err error) error { return &SetupError{Step: what, Err: err} }
	// Nothing that is mounted here may reach the host.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, nil, step("make the mounts private", err)
	}
	m := &mounter{plan: p, sources: map[string]int{}}
	// All that is taken from the host is taken before the scaffold covers
	// some of it.
	for _, s := range p.Steps {
		if s.Do == doLayer {
			fd, err := takeLayer(s)
			if err != nil {
				return nil, nil, err
			}
			m.sources[s.Path] = fd
			continue
		}
		if s.Do != doBind && s.Do != doDevice {
			continue
		}
		attr := uint64(attrReadOnly)
		switch {
		case s.Do == doDevice:
			attr = attrDevice
		case s.Write:
			attr = attrQuiet
		}
		if s.NoExec {
			attr |= unix.MOUNT_ATTR_NOEXEC
		}
		fd, err := take(s, attr)
		if err != nil && s.Maybe {
			continue
		}
		if err != nil {
			return nil, nil, step("take "+s.From+" from the host", err)
		}
		m.sources[s.Path] = fd
		if s.Other {
			m.disown(s, fd)
		}
	}
	root, err := newMount("tmpfs", attrQuiet, "mode=0755", "size=16m")
	if err != nil {
		return nil, nil, step("make the new root", err)
	}
	if err := attachScaffold(root); err != nil {
		return nil, nil, step("mount the new root", err)
	}
	m.tree = tree{fd: root, uid: -1, gid: -1}
	if p.ID.UID != os.Geteuid() {
		m.tree.uid, m.tree.gid = p.ID.UID, p.ID.GID
	}
	if m.covers, err = makeCovers(root); err != nil {
		return nil, nil, step("make what covers secrets", err)
	}
	for _, s := range p.Steps {
		if s.Do == doView {
			err = mountView(&m.tree, s)
		} else {
			err = m.do(s)
		}
		var known *SetupError
		if errors.As(err, &known) {
			return nil, nil, err
		}
		if err != nil {
			return nil, nil, step(fmt.Sprintf("set up %s %s", s.Do, s.Path), err)
		}
	}
	return &m.tree, m.lost(), nil
}

// take copies what a step shows of the host. lookAtHost has found where the paths
// that were named lead: no link is followed any more, so that what was decided
// about is what is shown, whatever somebody puts at the path meanwhile.
func take(s planStep, attr uint64) (int, error) {
	top, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(top)
	host := tree{fd: top}
	if s.Is != (fileID{}) {
		return takeSame(&host, s, attr)
	}
	fd := -1
	err = host.inParent(s.From, func(dir int, name string) error {
		fd, err = clone(dir, name, attr, unix.AT_SYMLINK_NOFOLLOW)
		return err
	})
	return fd, err
}

// takeSame takes a file only if it is the one that lookAtHost has opened, which the
// supervisor holds open until then: what is looked at here is what is shown.
func takeSame(host *tree, s planStep, attr uint64) (int, error) {
	at, err := host.open(s.From)
	if err != nil {
		return -1, err
	}
	defer unix.Close(at)
	id, _, err := identify(at)
	if err == nil && id != s.Is {
		err = errors.New("something else has taken its place")
	}
	if err != nil {
		return -1, err
	}
	return clone(at, "", attr, unix.AT_EMPTY_PATH)
}

func attachScaffold(root int) error {
	var errs []error
	for _, at := range scaffolds {
		err := unix.MoveMount(root, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH)
		if err == nil {
			return nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", at, err))
	}
	return errors.Join(errs...)
}

// do carries out one step.
func (m *mounter) do(s planStep) error {
	t := &m.tree
	switch s.Do {
	case doDir:
		return t.mkdir(s.Path, s.Mode)
	case doLink:
		return t.symlink(s.Path, s.From)
	case doFile:
		return m.file(s)
	case doTmpfs:
		return m.tmpfs(s)
	case doDevpts:
		fd, err := newMount("devpts", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, "newinstance", "ptmxmode=0666", "mode=0600")
		if err != nil {
			return err
		}
		return t.attach(fd, s.Path)
	case doBind, doDevice, doLayer:
		return m.bind(s)
	case doMask:
		return m.covers.mask(t, s.Path)
	case doOver:
		from, err := t.open(s.From)
		if err != nil {
			return err
		}
		defer unix.Close(from)
		return cover(t, s.Path, attrReadOnly, func(int) (int, error) { return from, nil })
	case doSeal:
		return t.setattr(s.Path, unix.MOUNT_ATTR_RDONLY)
	}
	return fmt.Errorf("unknown step %q", s.Do)
}

// file writes a file. One with a secret is the command's user's.
func (m *mounter) file(s planStep) error {
	if !s.Owned {
		return m.tree.file(s.Path, s.Mode, s.Data)
	}
	if err := m.tree.file(s.Path, s.Mode, s.Secret); err != nil {
		return err
	}
	return m.tree.inParent(s.Path, func(dir int, name string) error {
		return unix.Fchownat(dir, name, m.plan.ID.UID, m.plan.ID.GID, unix.AT_SYMLINK_NOFOLLOW)
	})
}

func (m *mounter) tmpfs(s planStep) error {
	options := []string{"mode=" + strconv.FormatUint(uint64(s.Mode), 8),
		"size=" + strconv.FormatInt(s.Size, 10), "nr_inodes=" + strconv.FormatInt(max(s.Size/bytesPerInode, leastInodes), 10)}
	if s.Owned {
		options = append(options, "uid="+strconv.Itoa(m.plan.ID.UID), "gid="+strconv.Itoa(m.plan.ID.GID))
	}
	attr := attrQuiet
	if s.NoExec {
		attr |= unix.MOUNT_ATTR_NOEXEC
	}
	fd, err := newMount("tmpfs", attr, options...)
	if err != nil {
		return err
	}
	return m.tree.attach(fd, s.Path)
}

// bind attaches what was taken from the host, on a file or directory like it.
func (m *mounter) bind(s planStep) error {
	fd, taken := m.sources[s.Path]
	if !taken && s.Maybe {
		return nil
	}
	delete(m.sources, s.Path)
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	if err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		err = ignore(m.tree.mkdir(s.Path, 0o755), unix.EROFS)
	} else if err == nil {
		err = ignore(m.tree.file(s.Path, 0o444, nil), unix.EROFS)
	}
	if err != nil {
		unix.Close(fd)
		return err
	}
	if err := m.tree.attach(fd, s.Path); err != nil {
		return err
	}
	if s.Path == "/etc" && slices.Contains(m.covered, s.Path) {
		return m.coverSecrets(s)
	}
	return nil
}

// ignore drops one error.
func ignore(err, this error) error {
	if err == this {
		return nil
	}
	return err
}
