package caches

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// Promote takes over from the layer of a project to the host's cache what sums, the content
// of the file Cache.Proof, prove. The caller vouches for sums: what wrote to the layer must
// not have been able to write them. No link of the layer is followed, and nothing of it
// but regular files is opened. A file is copied first: what is hashed is the copy, and
// the copy is what gets its name in the host's cache. A file that the host's cache has is
// left as it is. With dry nothing gets a name.
//
// It holds the layer meanwhile: while a run uses it, ErrBusy is returned, and
// fs.ErrNotExist where there is no layer.
func Promote(base, root string, plan Plan, sums []byte, dry bool) (res Result, err error) {
	var list []piece
	switch plan.Cache.Name {
	case "go":
		list, err = goPieces(sums)
	case "npm":
		list, err = npmPieces(sums)
	default:
		return res, fmt.Errorf("of the cache %q nothing is promoted: %s", plan.Cache.Name, plan.Cache.Unproved)
	}
	if err != nil {
		return res, err
	}
	slices.SortFunc(list, func(x, y piece) int { return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.place, y.place)) })
	layer := filepath.Join(base, idOf(root, plan.Cache.Name))
	held, err := hold(layer)
	if err != nil {
		return res, err
	}
	defer func() { _ = held.Close() }() // only read
	// Of both caches the first part is the one that sums speak of.
	from, err := os.OpenFile(filepath.Join(layer, plan.Cache.parts()[0].ID, upperName), unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return res, err
	}
	defer func() { _ = from.Close() }() // only read
	at := plan.Parts[0].Path
	if _, missing := os.Lstat(at); missing != nil && dry {
		if at, err = os.MkdirTemp("", "pinfold-"); err != nil { // as empty, and not there afterwards
			return res, err
		}
		defer func() { _ = os.RemoveAll(at) }() // it is empty
	} else if err := os.MkdirAll(at, 0o755); err != nil {
		return res, err
	}
	to, err := os.OpenRoot(at)
	if err != nil {
		return res, err
	}
	defer func() { _ = to.Close() }() // each file in it was closed with its error
	for _, p := range list {
		taken, there, err := p.promote(from, to, dry)
		var refused *refusedError
		switch {
		case errors.As(err, &refused):
			res.Refused = append(res.Refused, Refusal{p.name, refused.why})
		case err != nil:
			return res, fmt.Errorf("%s: %w", p.name, err)
		case there:
			res.There++
		case taken:
			res.Taken = append(res.Taken, p.name)
		}
	}
	return res, nil
}

// promote takes one piece over. One that the layer does not have is neither taken nor
// there.
func (p piece) promote(from *os.File, to *os.Root, dry bool) (taken, there bool, err error) {
	in, err := openPiece(from, p.place)
	if in == nil || err != nil {
		return false, false, err
	}
	defer func() { _ = in.Close() }() // only read
	if _, err := to.Lstat(filepath.FromSlash(p.place)); !errors.Is(err, fs.ErrNotExist) {
		return false, err == nil, err
	}
	if dry {
		// What is hashed is thrown away; nothing is made in the cache.
		scratch, err := os.MkdirTemp("", "pinfold-")
		if err != nil {
			return false, false, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
		there, err := os.OpenRoot(scratch)
		if err != nil {
			return false, false, err
		}
		defer func() { _ = there.Close() }() // only for what is thrown away
		if err := p.copyProved(there, "copy", in); err != nil {
			return false, false, err
		}
		return true, false, nil
	}
	// Beside the place, so that the rename is one within a file system.
	dir := filepath.FromSlash(path.Dir(p.place))
	if err := to.MkdirAll(dir, 0o755); err != nil {
		return false, false, err
	}
	temp := filepath.Join(dir, "pinfold-"+rand.Text()+".tmp")
	defer func() {
		if failed := to.Remove(temp); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}()
	if err := p.copyProved(to, temp, in); err != nil {
		return false, false, err
	}
	for place, data := range p.beside {
		if err := writeBeside(to, filepath.FromSlash(place), data); err != nil {
			return false, false, err
		}
	}
	return true, false, to.Rename(temp, filepath.FromSlash(p.place))
}

// openPiece opens a regular file beneath a directory, over no link; nil where there is
// none. What it is is known before it is opened.
func openPiece(dir *os.File, place string) (*os.File, error) {
	at, err := fsat.Openat2(int(dir.Fd()), place, unix.O_PATH|unix.O_NOFOLLOW, 0,
		fsat.ResolveBeneath|fsat.ResolveNoSymlinks|fsat.ResolveNoMagicLinks|fsat.ResolveNoXDev)
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR:
		return nil, nil
	case unix.ELOOP:
		return nil, &refusedError{"a link leads there"}
	default:
		return nil, &refusedError{"it cannot be opened: " + err.Error()}
	}
	defer unix.Close(at)
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return nil, os.NewSyscallError("fstat", err)
	}
	switch kind := st.Mode & unix.S_IFMT; {
	case kind == unix.S_IFCHR && st.Rdev == 0: // the run has removed the host's (overlayfs)
		return nil, nil
	case kind != unix.S_IFREG:
		return nil, &refusedError{"it is not a regular file"}
	}
	f, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", at))
	if err != nil {
		return nil, &refusedError{"it cannot be opened: " + err.Error()}
	}
	return f, nil
}

// copyProved copies a piece into a new file, of which it is then proved that it is the one.
func (p piece) copyProved(to *os.Root, name string, in io.Reader) error {
	out, err := to.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, p.most+1))
	switch {
	case err != nil:
	case n > p.most:
		err = &refusedError{fmt.Sprintf("it is larger than %d bytes", p.most)}
	default:
		err = p.proves(fmt.Sprintf("/proc/self/fd/%d", out.Fd()), p.sum) // whatever has its name now
	}
	return errors.Join(err, out.Close())
}

// writeBeside writes a small file that goes with a piece, whole, unless there is one.
func writeBeside(to *os.Root, name string, data []byte) error {
	if _, err := to.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temp := filepath.Join(filepath.Dir(name), "pinfold-"+rand.Text()+".tmp")
	err := to.WriteFile(temp, data, 0o644)
	if err == nil {
		err = to.Rename(temp, name)
	}
	if err != nil {
		err = errors.Join(err, to.RemoveAll(temp))
	}
	return err
}
