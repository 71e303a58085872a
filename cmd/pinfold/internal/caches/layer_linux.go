package caches

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Held is a layer in use: until Close nobody else uses or removes it. The kernel lets go
// of it when this process ends, however that is.
type Held struct {
	Shown []Shown
	// Temporary: another run uses the project's layer, so this one begins with the host's
	// cache alone and is thrown away.
	Temporary bool

	dir *os.File
}

// Close lets go of the layer.
func (h *Held) Close() { _ = h.dir.Close() } // nothing is written by it

// Hold finds or makes the layer of a project for what plan says. base is the directory of
// all layers of this user, which is made if it is missing.
func Hold(base, root string, plan Plan) (*Held, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}
	failed := func(err error) (*Held, error) {
		return nil, fmt.Errorf("the layer over the cache %q: %w", plan.Cache.Name, err)
	}
	id := idOf(root, plan.Cache.Name)
	path, h := filepath.Join(base, id), &Held{}
	var err error
	if h.dir, err = holdOrMake(path); errors.Is(err, ErrBusy) {
		h.Temporary = true
		h.dir, path, err = holdTemp(base, id)
	}
	if err != nil {
		return failed(err)
	}
	if err := h.fill(path, root, plan); err != nil {
		h.Close()
		return failed(err)
	}
	return h, nil
}

// tries and between bound how long a layer is waited for that somebody looks at or
// removes; a run holds it for longer.
const (
	tries   = 20
	between = 10 * time.Millisecond
)

// holdOrMake holds a layer's directory, which it makes if it is missing.
func holdOrMake(path string) (dir *os.File, err error) {
	for range tries {
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if dir, err = hold(path); err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrBusy) {
			return dir, err
		}
		time.Sleep(between)
	}
	return nil, ErrBusy
}

// holdTemp makes a directory that is thrown away, and holds it.
func holdTemp(base, id string) (dir *os.File, path string, err error) {
	for range tries {
		if path, err = os.MkdirTemp(base, tempPrefix+id+"-"); err != nil {
			return nil, "", err
		}
		// Until it is held, Tidy of another run may take it for one that was left.
		if dir, err = hold(path); err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrBusy) {
			return dir, path, err
		}
	}
	return nil, "", err
}

// fill makes what is missing in a layer, and notes that it is used now.
func (h *Held) fill(path, root string, plan Plan) error {
	layer, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer func() { _ = layer.Close() }() // each file of it is closed with its error
	for i, part := range plan.Cache.parts() {
		for _, dir := range []string{part.ID, part.ID + "/" + upperName, part.ID + "/" + workName} {
			if err := layer.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		for _, hidden := range part.Hide {
			if err := hide(layer, part.ID+"/"+upperName, hidden); err != nil {
				return err
			}
		}
		shown := plan.Parts[i]
		shown.Dir = filepath.Join(path, part.ID)
		h.Shown = append(h.Shown, shown)
	}
	return layer.WriteFile(aboutName, []byte(root), 0o600)
}

// hide makes a directory in the upper layer that shows nothing of the host's (overlayfs,
// "opaque"). The command cannot take the mark away: an overlay does not show its own
// attributes, and puts it on what is made anew in such a place. Where a run has left
// something other than a directory on the way, that is in the place of the host's.
func hide(layer *os.Root, upper, place string) error {
	at := upper
	for name := range strings.SplitSeq(place, "/") {
		at = filepath.Join(at, name)
		info, err := layer.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			err = layer.Mkdir(at, 0o755)
		} else if err == nil && !info.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
	}
	dir, err := layer.Open(at)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // a directory
	if err := unix.Fsetxattr(int(dir.Fd()), "user.overlay.opaque", []byte("y"), 0); err != nil {
		return fmt.Errorf("the file system keeps no extended attributes: %w", err)
	}
	return nil
}

// hold locks a directory until it is closed, and sees to it that it still has its name.
func hold(path string) (_ *os.File, err error) {
	dir, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = dir.Close() // nothing was written
		}
	}()
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == unix.EWOULDBLOCK {
		return nil, ErrBusy
	} else if err != nil {
		return nil, os.NewSyscallError("flock", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &st); err != nil {
		return nil, os.NewSyscallError("fstat", err)
	}
	if int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0 {
		return nil, fmt.Errorf("%q is not this user's alone", path)
	}
	held, err := dir.Stat()
	if err != nil {
		return nil, err
	}
	named, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !os.SameFile(held, named) {
		return nil, fs.ErrNotExist // removed, and made again
	}
	return dir, nil
}

// List are the layers of this user, those used longest ago first.
func List(base string) (list []Layer, err error) {
	names, err := layerNames(base)
	for _, name := range names {
		l := Layer{name: name}
		l.Cache, l.Temporary = cacheOf(name)
		dir, err := hold(filepath.Join(base, name))
		switch {
		case err == nil:
			_ = dir.Close() // nothing was written
		case errors.Is(err, ErrBusy):
			l.Busy = true
		default:
			continue // it went meanwhile, or is none
		}
		l.look(base)
		list = append(list, l)
	}
	slices.SortStableFunc(list, func(x, y Layer) int { return cmp.Or(x.Used.Compare(y.Used), cmp.Compare(x.name, y.name)) })
	return list, err
}

func layerNames(base string) ([]string, error) {
	entries, err := os.ReadDir(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if cache, _ := cacheOf(e.Name()); cache != "" && e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// look reads what a layer's directory says of it.
func (l *Layer) look(base string) {
	root, err := os.OpenRoot(filepath.Join(base, l.name))
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }() // only read
	if about, err := root.ReadFile(aboutName); err == nil {
		l.Project = string(about)
	}
	if info, err := root.Lstat(aboutName); err == nil {
		l.Used = info.ModTime()
	} else if info, err := root.Lstat("."); err == nil {
		l.Used = info.ModTime() // interrupted before it was written
	}
	c, _ := Find(l.Cache)
	for _, part := range c.parts() {
		dir, err := root.Open(part.ID + "/" + upperName)
		if err != nil {
			continue
		}
		n, whole := size(dir, maxDepth)
		_ = dir.Close() // only read
		l.Bytes += n
		l.Large = l.Large || !whole
	}
}

// size is what a directory takes up on the disk, of which hard links count anew. whole is
// false where not all could be counted: a run can make directories without end, and
// such that cannot be read.
func size(dir *os.File, depth int) (n int64, whole bool) {
	whole = true
	for {
		entries, err := dir.ReadDir(1000)
		for _, e := range entries {
			var st unix.Stat_t
			if unix.Fstatat(int(dir.Fd()), e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
				continue // gone
			}
			n += st.Blocks*512 + perFile
			if st.Mode&unix.S_IFMT != unix.S_IFDIR {
				continue
			}
			fd, err := unix.Openat(int(dir.Fd()), e.Name(), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
			if err != nil || depth == 0 {
				whole = false
				if err == nil {
					unix.Close(fd)
				}
				continue
			}
			sub := os.NewFile(uintptr(fd), e.Name())
			m, all := size(sub, depth-1)
			_ = sub.Close() // only read
			n, whole = n+m, whole && all
		}
		if err == io.EOF {
			return n, whole
		}
		if err != nil {
			return n, false
		}
	}
}

// Tidy removes what was left of layers that are thrown away, those that nobody has used
// for long, and the oldest where all together hold too much; none that is in use. A
// starting run does not fail over what cannot be removed.
func Tidy(base string, now time.Time) { tidy(base, now, MaxBytes) }

func tidy(base string, now time.Time, most int64) {
	names, err := layerNames(base)
	if err != nil || len(names) == 0 {
		return
	}
	for _, name := range names {
		if _, temporary := cacheOf(name); temporary {
			_ = remove(base, name) // the next run tries again
		}
	}
	checked := filepath.Join(base, checkedName)
	if info, err := os.Lstat(checked); err == nil && now.Sub(info.ModTime()) < checkedEvery && !info.ModTime().After(now) {
		return
	}
	list, err := List(base)
	if err != nil {
		return
	}
	var sum int64
	for _, l := range list {
		sum += l.Bytes
	}
	for _, l := range list {
		if (sum > most || l.Large || now.Sub(l.Used) > KeptFor) && remove(base, l.name) == nil {
			sum -= l.Bytes
		}
	}
	if os.WriteFile(checked, nil, 0o600) == nil {
		_ = os.Chtimes(checked, now, now) // otherwise it is the clock's
	}
}

// Prune removes the layers that which says, but for those in use, and returns those that
// it has removed.
func Prune(base string, which func(Layer) bool) (removed []Layer, err error) {
	list, err := List(base)
	for _, l := range list {
		if !which(l) {
			continue
		}
		switch failed := remove(base, l.name); {
		case failed == nil:
			removed = append(removed, l)
		case !errors.Is(failed, ErrBusy) && !errors.Is(failed, fs.ErrNotExist):
			err = errors.Join(err, failed)
		}
	}
	return removed, err
}

// remove removes a layer that nobody uses.
func remove(base, name string) error {
	dir, err := hold(filepath.Join(base, name))
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // it is gone
	if err := empty(dir); err != nil {
		return fmt.Errorf("remove %q: %w", filepath.Join(base, name), err)
	}
	return os.Remove(filepath.Join(base, name))
}

// empty removes all that is in a directory. A run may have made directories of any depth,
// and such that their owner may not change: each is opened up, what it holds is moved
// to the top, and so on. No more than two are open at once, and no link is followed.
func empty(top *os.File) error {
	for fresh := 0; ; {
		if _, err := top.Seek(0, io.SeekStart); err != nil {
			return err
		}
		names, err := top.Readdirnames(4096)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := flatten(int(top.Fd()), name, &fresh); err != nil {
				return err
			}
		}
	}
}

// flatten removes a name in a directory, after it has moved what the name holds beside it.
func flatten(top int, name string, fresh *int) error {
	err := unix.Unlinkat(top, name, 0)
	if err != unix.EISDIR && err != unix.EPERM { // POSIX has EPERM for a directory
		return err
	}
	fd, err := openUp(top, name)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(fd), name)
	defer func() { _ = dir.Close() }() // a directory
	for {
		names, err := dir.Readdirnames(4096)
		for _, sub := range names {
			err := unix.Unlinkat(fd, sub, 0)
			if err == unix.EISDIR || err == unix.EPERM {
				err = moveUp(fd, sub, top, fresh)
			}
			if err != nil {
				return err
			}
		}
		if err == io.EOF {
			return unix.Unlinkat(top, name, unix.AT_REMOVEDIR)
		}
		if err != nil {
			return err
		}
	}
}

// moveUp moves a directory to the top, under a fresh name.
func moveUp(from int, name string, top int, fresh *int) error {
	fd, err := openUp(from, name) // a directory that moves is written itself, for its ".."
	if err != nil {
		return err
	}
	unix.Close(fd)
	for {
		*fresh++
		err := unix.Renameat2(from, name, top, fmt.Sprintf("%d", *fresh), unix.RENAME_NOREPLACE)
		if err != unix.EEXIST {
			return err
		}
	}
}

// openUp opens a directory whose owner this user is, after it was made one that may be
// read and changed.
func openUp(dir int, name string) (int, error) {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	at := fmt.Sprintf("/proc/self/fd/%d", fd)
	if err := unix.Chmod(at, 0o700); err != nil {
		return -1, err
	}
	return unix.Open(at, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
}
