package fileskills

import (
	"context"

	"github.com/pinfold-dev/pinfold/access"
)

// Open opens a file as read_file would: the rules and the gate are asked. It
// is for surfaces that show files by other means than a skill. The caller
// closes the File. The error is always an *Error.
func (s *Set) Open(ctx context.Context, unsafePath string) (File, error) {
	return openAs(ctx, s, "read_file", use{Path: unsafePath, Action: access.FSRead}, FS.Open)
}

// OpenDir opens a directory as list_directory would, like Open.
func (s *Set) OpenDir(ctx context.Context, unsafePath string) (Dir, error) {
	return openAs(ctx, s, "list_directory", use{Path: unsafePath, Action: access.FSList}, FS.OpenDir)
}

func openAs[T any](ctx context.Context, s *Set, name string, u use, open func(FS, string) (T, error)) (T, error) {
	c := s.begin(ctx, byName()[name], nil)
	var none T
	if err := c.admit([]use{u}); err != nil {
		return none, err
	}
	h, err := open(c.fs, u.Path)
	if err != nil {
		return none, c.explain(err, u.Path)
	}
	return h, nil
}
