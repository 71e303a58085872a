package skilltest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"

	"github.com/spf13/afero"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/fileskills"
)

func (f *aferoFS) Replace(unsafePath string, o fileskills.ReplaceOptions) (fileskills.Replacement, error) {
	place, err := f.place(access.OpWrite, unsafePath)
	if err != nil {
		return nil, err
	}
	r := &aferoReplacement{fs: f, place: place, unsafePath: unsafePath, o: o}
	if r.old, err = f.current(place); err != nil {
		return nil, named(err, unsafePath)
	}
	if err := r.fits(r.old); err != nil {
		return nil, named(err, unsafePath)
	}
	return r, nil
}

// current is the file at a place; nil when there is none.
func (f *aferoFS) current(place string) (fileskills.File, error) {
	info, err := f.stat(place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, isDirectory("open", place)
	}
	return f.open(place)
}

// aferoReplacement keeps new content in memory until Commit.
type aferoReplacement struct {
	bytes.Buffer
	fs         *aferoFS
	place      string
	unsafePath string
	o          fileskills.ReplaceOptions
	old        fileskills.File
}

// fits says whether what is there is what the options want.
func (r *aferoReplacement) fits(now fileskills.File) error {
	switch {
	case now == nil && r.o.MustExist:
		return fs.ErrNotExist
	case now != nil && r.o.MustBeNew:
		return fs.ErrExist
	}
	for dir := path.Dir(r.place); dir != "."; dir = path.Dir(dir) {
		switch info, err := r.fs.stat(dir); {
		case err == nil && !info.IsDir():
			return notDirectory("open", r.place)
		case err != nil && !r.o.Parents:
			return err
		}
	}
	return nil
}

func (r *aferoReplacement) Old() fileskills.File { return r.old }
func (r *aferoReplacement) Place() string        { return r.place }

func (r *aferoReplacement) CopyFrom(ctx context.Context, src fileskills.File) (int64, error) {
	n, err := r.ReadFrom(src)
	return n, errors.Join(err, ctx.Err())
}

func (r *aferoReplacement) Commit(ctx context.Context, still func(now fileskills.File) error) error {
	r.fs.mu.Lock()
	defer r.fs.mu.Unlock()
	now, err := r.fs.current(r.place)
	if err != nil {
		return err
	}
	if now != nil {
		defer now.Close()
	}
	if err := r.fits(now); err != nil {
		return named(err, r.unsafePath)
	}
	if still != nil {
		if err := still(now); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(r.fs.fs.MkdirAll(at(path.Dir(r.place)), 0o777), r.put())
}

// put keeps the mode of what was there.
func (r *aferoReplacement) put() error {
	perm := r.o.Perm
	if perm == 0 {
		perm = 0o666
	}
	for _, f := range []fileskills.File{r.o.Like, r.old} {
		if f == nil {
			continue
		}
		info, err := f.Stat()
		if err != nil {
			return err
		}
		perm = info.Mode().Perm()
	}
	return errors.Join(
		afero.WriteReader(r.fs.fs, at(r.place), io.Reader(&r.Buffer)),
		r.fs.fs.Chmod(at(r.place), perm),
	)
}

func (r *aferoReplacement) Close() error {
	if r.old == nil {
		return nil
	}
	return r.old.Close()
}
