package fileskills

import (
	"context"

	"github.com/pinfold-dev/pinfold/access"
)

// Open opens a file as read_file would: the rules and the gate are asked. It
// is for surfaces that show files by other means than a skill. The caller
// closes the File. The error is always an *Error.
func (s *Set) Open(ctx context.Context, unsafePath string) (File, error) {
	return openAs(ctx, s, "read_file", Use{Path: unsafePath, Action: access.FSRead}, s.fs.Open)
}

// OpenDir opens a directory as list_directory would, like Open.
func (s *Set) OpenDir(ctx context.Context, unsafePath string) (Dir, error) {
	return openAs(ctx, s, "list_directory", Use{Path: unsafePath, Action: access.FSList}, s.fs.OpenDir)
}

func openAs[T any](ctx context.Context, s *Set, name string, u Use, open func(string) (T, error)) (T, error) {
	c := &call{set: s, fs: s.fs, skill: byName()[name], ctx: ctx}
	var none T
	if err := c.admit(u, nil); err != nil {
		return none, err
	}
	h, err := open(u.Path)
	if err != nil {
		return none, c.explain(err, u.Path)
	}
	return h, nil
}
