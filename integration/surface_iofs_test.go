package integration

import (
	"io/fs"
	"os"
	"testing"

	"github.com/pinfold-dev/pinfold/integration/ops"
)

// iofsSurface is the resolver as an io/fs.FS.
type iofsSurface struct{ uid int }

func (iofsSurface) Name() string { return "iofs" }
func (s iofsSurface) UID() int   { return s.uid }
func (iofsSurface) InView() bool { return false }

func (iofsSurface) Start(t *testing.T, s *site, policy []string, mode string) (ops.Executor, error) {
	r, err := resolver(t, s, policy, mode)
	if err != nil {
		return nil, err
	}
	return iofsOps{r.FS()}, nil
}

func (iofsSurface) Unguarded(_ *testing.T, s *site) ops.Executor {
	return iofsOps{os.DirFS(s.root)}
}

// iofsOps does the operations that io/fs has.
type iofsOps struct{ fs fs.FS }

func (f iofsOps) Do(op ops.Op) ops.Result {
	p := op.Arg(0)
	switch op.Verb {
	case "read":
		data, err := fs.ReadFile(f.fs, p)
		return denied(data, err)
	case "list":
		entries, err := fs.ReadDir(f.fs, p)
		return withRule(ops.List(entries, err), err)
	case "stat":
		info, err := fs.Stat(f.fs, p)
		return withRule(ops.Info(info, err), err)
	case "lstat":
		info, err := fs.Lstat(f.fs, p)
		return withRule(ops.Info(info, err), err)
	case "readlink":
		target, err := fs.ReadLink(f.fs, p)
		return denied([]byte(target), err)
	}
	return denied(nil, ops.ErrUnsupported)
}
