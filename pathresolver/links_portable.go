//go:build !linux || portable

package pathresolver

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// mayChange asks about the hard links of a file that is to be changed in
// place. again tells that the file was replaced by a copy: open it anew.
func (r *Resolver) mayChange(op Op, unsafePath, place string, f *os.File) (again bool, err error) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	id, err := identify(f)
	if err != nil {
		return false, err
	}
	breakIt, denied := r.CheckLinks(filepath.ToSlash(place), id)
	if denied != nil {
		denied.Op = op
		return false, denied.asGiven(unsafePath)
	}
	if !breakIt {
		return false, nil
	}
	return true, r.breakLinks(place, info.Mode())
}

// breakLinks replaces the file at place by a copy that has one link.
func (r *Resolver) breakLinks(place string, mode fs.FileMode) (err error) {
	in, err := r.dir.Open(place)
	if err != nil {
		return err
	}
	defer in.Close()
	temp := filepath.Join(filepath.Dir(place), ".pinfold-"+rand.Text())
	out, err := r.dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err == nil {
		err = r.dir.Rename(temp, place)
	}
	if err != nil {
		_ = r.dir.Remove(temp)
	}
	return err
}

// forgetLinks drops what is known of links made here, before a name goes: a
// link made outside later must not pass for it. Without the time of birth,
// knowing less is the safe side.
func (r *Resolver) forgetLinks() {
	r.linksMu.Lock()
	defer r.linksMu.Unlock()
	clear(r.links)
}

// count tells a file's identity and how many names it has.
func (r *Resolver) count(place string) (FileID, error) {
	f, err := r.dir.Open(place)
	if err != nil {
		return FileID{}, err
	}
	defer f.Close()
	return identify(f)
}
