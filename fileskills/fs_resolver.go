package fileskills

import (
	"context"
	"errors"
	"io/fs"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Resolved is the FS over a resolver, for who wraps it: Config.Resolver is the
// shorter way.
func Resolved(r *pathresolver.Resolver) FS { return &resolverFS{r: r, sync: true} }

type resolverFS struct {
	r    *pathresolver.Resolver
	sync bool
}

func (f *resolverFS) Open(unsafePath string) (File, error) {
	file, err := f.r.OpenRead(unsafePath)
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (f *resolverFS) OpenDir(unsafePath string) (Dir, error) {
	d, err := f.r.OpenDir(unsafePath)
	if err != nil {
		return nil, err
	}
	return resolvedDir{d}, nil
}

func (f *resolverFS) Stat(unsafePath string) (fs.FileInfo, error)  { return f.r.Stat(unsafePath) }
func (f *resolverFS) Lstat(unsafePath string) (fs.FileInfo, error) { return f.r.Lstat(unsafePath) }
func (f *resolverFS) Remove(unsafePath string) error               { return f.r.Remove(unsafePath) }
func (f *resolverFS) WritePaths() []string                         { return f.r.WritePaths() }

func (f *resolverFS) MkdirAll(unsafePath string) (created bool, err error) {
	_, err = f.r.Stat(unsafePath)
	created = errors.Is(err, fs.ErrNotExist)
	return created, f.r.MkdirAll(unsafePath, 0o777)
}

func (f *resolverFS) Rename(unsafeOld, unsafeNew string, overwrite bool) error {
	how := pathresolver.RenameNoReplace
	if overwrite {
		how = pathresolver.RenameReplace
	}
	return f.r.Rename(unsafeOld, unsafeNew, how)
}

func (f *resolverFS) Resolve(a access.Action, unsafePath string) (place string, err error) {
	op, kind, err := opOf(a)
	if err != nil {
		return "", err
	}
	return f.r.Resolve(op, unsafePath, kind)
}

// opOf is the resolver's word for an action, and the type of what it makes.
func opOf(a access.Action) (access.Op, fs.FileMode, error) {
	op, ok := a.Op()
	if !ok {
		return "", 0, fs.ErrPermission // an action that nobody declared
	}
	if op == access.OpCreate {
		return op, fs.ModeDir, nil
	}
	return op, 0, nil
}

func (f *resolverFS) Replace(unsafePath string, o ReplaceOptions) (Replacement, error) {
	like, _ := o.Like.(*pathresolver.File)
	w, err := f.r.Replace(unsafePath, pathresolver.ReplaceOptions{
		MustExist: o.MustExist, MustBeNew: o.MustBeNew, Parents: o.Parents,
		Perm: o.Perm, Like: like, Sync: f.sync,
	})
	if err != nil {
		return nil, err
	}
	return resolvedReplacement{w}, nil
}

// resolvedReplacement gives a Replacement of the resolver the types of FS.
type resolvedReplacement struct{ *pathresolver.Replacement }

func (w resolvedReplacement) Old() File { return asFile(w.Replacement.Old()) }

func (w resolvedReplacement) CopyFrom(ctx context.Context, src File) (int64, error) {
	file, ok := src.(*pathresolver.File)
	if !ok {
		return 0, fs.ErrInvalid // not of this FS
	}
	return w.Replacement.CopyFrom(ctx, file)
}

func (w resolvedReplacement) Commit(ctx context.Context, still func(now File) error) error {
	if still == nil {
		return w.Replacement.Commit(ctx, nil)
	}
	return w.Replacement.Commit(ctx, func(now *pathresolver.File) error { return still(asFile(now)) })
}

// asFile keeps nil nil.
func asFile(f *pathresolver.File) File {
	if f == nil {
		return nil
	}
	return f
}

// resolvedDir gives a Dir of the resolver the types of FS.
type resolvedDir struct{ *pathresolver.Dir }

func (d resolvedDir) Open(name string) (File, error) {
	f, err := d.Dir.Open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d resolvedDir) OpenDir(name string) (Dir, error) {
	sub, err := d.Dir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return resolvedDir{sub}, nil
}
