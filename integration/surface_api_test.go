package integration

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/ops"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// apiSurface is the Go API of pathresolver.
type apiSurface struct{ uid int }

func (apiSurface) Name() string { return "api" }
func (s apiSurface) UID() int   { return s.uid }
func (apiSurface) InView() bool { return false }

func (apiSurface) Start(t *testing.T, s *site, policy []string, mode string) (ops.Executor, error) {
	r, err := resolver(t, s, policy, mode)
	return api{r}, err
}

func (apiSurface) Unguarded(_ *testing.T, s *site) ops.Executor { return ops.Native{Root: s.root} }

// resolver makes the site's resolver. The test process itself acts, so it
// holds what $FD and $DIRFD name.
func resolver(t *testing.T, s *site, policy []string, mode string) (*pathresolver.Resolver, error) {
	r, err := pathresolver.New(config(s, policy, mode))
	if err != nil {
		return nil, err
	}
	require.Equal(t, mode, r.Mode())
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r, nil
}

// api does operations by the resolver's verbs.
type api struct{ *pathresolver.Resolver }

func (a api) Do(op ops.Op) ops.Result {
	p, q := op.Arg(0), op.Arg(1)
	switch op.Verb {
	case "read":
		data, err := a.ReadFile(p)
		return denied(data, err)
	case "list":
		entries, err := a.ReadDir(p)
		return withRule(ops.List(entries, err), err)
	case "stat":
		info, err := a.Stat(p)
		return withRule(ops.Info(info, err), err)
	case "lstat":
		info, err := a.Lstat(p)
		return withRule(ops.Info(info, err), err)
	case "readlink":
		target, err := a.Readlink(p)
		return denied([]byte(target), err)
	case "write":
		return denied(nil, a.WriteFile(p, []byte(q), 0o644))
	case "edit":
		return denied(nil, put(a.OpenFile, p, os.O_WRONLY, q))
	case "append":
		return denied(nil, put(a.OpenFile, p, os.O_WRONLY|os.O_APPEND, q))
	case "create":
		return denied(nil, put(a.OpenFile, p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, q))
	case "truncate":
		return denied(nil, a.Truncate(p, 0))
	case "mkdir":
		return denied(nil, a.Mkdir(p, 0o755))
	case "mkdirall":
		return denied(nil, a.MkdirAll(p, 0o755))
	case "remove":
		return denied(nil, a.Remove(p))
	case "removeall":
		return denied(nil, a.RemoveAll(p))
	case "rename":
		return denied(nil, a.Rename(p, q, pathresolver.RenameReplace))
	case "exchange":
		return denied(nil, a.Rename(p, q, pathresolver.RenameExchange))
	case "link":
		return denied(nil, a.Link(p, q))
	case "symlink":
		return denied(nil, a.Symlink(p, q))
	case "chmod":
		return denied(nil, a.Chmod(p, ops.Mode(q)))
	case "chtimes":
		return denied(nil, a.Chtimes(p, ops.Stamp, ops.Stamp))
	}
	return denied(nil, ops.ErrUnsupported)
}

func put[F interface {
	WriteString(string) (int, error)
	Close() error
}](open func(string, int, os.FileMode) (F, error), p string, flag int, data string) error {
	f, err := open(p, flag, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(data)
	return errors.Join(err, f.Close())
}

func denied(data []byte, err error) ops.Result { return withRule(ops.Failed(data, err), err) }

// withRule notes the rule of a refusal. A refusal that is not also
// fs.ErrPermission, or names a place outside, is none.
func withRule(res ops.Result, err error) ops.Result {
	var d *pathresolver.DeniedError
	if errors.As(err, &d) && errors.Is(err, os.ErrPermission) {
		res.Rule = string(d.Rule)
	}
	return res
}
