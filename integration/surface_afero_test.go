package integration

import (
	"os"
	"testing"

	"github.com/spf13/afero"

	"github.com/pinfold-dev/pinfold/integration/ops"
	"github.com/pinfold-dev/pinfold/pathresolver/aferofs"
)

// aferoSurface is the resolver as an afero.Fs.
type aferoSurface struct{ uid int }

func (aferoSurface) Name() string { return "afero" }
func (s aferoSurface) UID() int   { return s.uid }
func (aferoSurface) InView() bool { return false }

func (aferoSurface) Start(t *testing.T, s *site, policy []string, mode string) (ops.Executor, error) {
	r, err := resolver(t, s, policy, mode)
	if err != nil {
		return nil, err
	}
	return aferoOps{fs: aferofs.New(r)}, nil
}

// Unguarded is afero's own file system of the host.
func (aferoSurface) Unguarded(_ *testing.T, s *site) ops.Executor {
	return aferoOps{fs: afero.NewOsFs(), root: s.root}
}

// aferoOps does operations by an afero.Fs.
type aferoOps struct {
	fs   afero.Fs
	root string // put before relative paths, unguarded only
}

func (a aferoOps) path(p string) string {
	if a.root == "" || p != "" && p[0] == '/' {
		return p
	}
	return a.root + "/" + p
}

func (a aferoOps) Do(op ops.Op) ops.Result {
	p, q := a.path(op.Arg(0)), a.path(op.Arg(1))
	switch op.Verb {
	case "read":
		data, err := afero.ReadFile(a.fs, p)
		return denied(data, err)
	case "list":
		return a.list(p)
	case "stat":
		info, err := a.fs.Stat(p)
		return withRule(ops.Info(info, err), err)
	case "lstat":
		if l, ok := a.fs.(afero.Lstater); ok {
			info, _, err := l.LstatIfPossible(p)
			return withRule(ops.Info(info, err), err)
		}
	case "readlink":
		if l, ok := a.fs.(afero.LinkReader); ok {
			target, err := l.ReadlinkIfPossible(p)
			return denied([]byte(target), err)
		}
	case "symlink":
		if l, ok := a.fs.(afero.Linker); ok {
			return denied(nil, l.SymlinkIfPossible(op.Arg(0), q))
		}
	case "write":
		return denied(nil, afero.WriteFile(a.fs, p, []byte(op.Arg(1)), 0o644))
	case "edit":
		return denied(nil, put(a.fs.OpenFile, p, os.O_WRONLY, op.Arg(1)))
	case "append":
		return denied(nil, put(a.fs.OpenFile, p, os.O_WRONLY|os.O_APPEND, op.Arg(1)))
	case "create":
		return denied(nil, put(a.fs.OpenFile, p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, op.Arg(1)))
	case "truncate":
		return denied(nil, put(a.fs.OpenFile, p, os.O_WRONLY|os.O_TRUNC, ""))
	case "mkdir":
		return denied(nil, a.fs.Mkdir(p, 0o755))
	case "mkdirall":
		return denied(nil, a.fs.MkdirAll(p, 0o755))
	case "remove":
		return denied(nil, a.fs.Remove(p))
	case "removeall":
		return denied(nil, a.fs.RemoveAll(p))
	case "rename":
		return denied(nil, a.fs.Rename(p, q))
	case "chmod":
		return denied(nil, a.fs.Chmod(p, ops.Mode(op.Arg(1))))
	case "chtimes":
		return denied(nil, a.fs.Chtimes(p, ops.Stamp, ops.Stamp))
	}
	return denied(nil, ops.ErrUnsupported)
}

func (a aferoOps) list(p string) ops.Result {
	infos, err := afero.ReadDir(a.fs, p)
	if err != nil {
		return denied(nil, err)
	}
	names := ""
	for i, info := range infos { // sorted by afero
		if i > 0 {
			names += " "
		}
		names += info.Name()
	}
	return denied([]byte(names), nil)
}
