package proposal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// overlay is the agent's files, read by handle, with what was written kept in
// memory. Nothing else that changes files is possible over it.
type overlay struct {
	resolver  *pathresolver.Resolver
	only      string // the place that may be written; "" leaves it to the rules
	elsewhere string // another place that the skill wanted to write
	tooLarge  bool   // what it wanted to read or write
	unread    bool   // what is there may be read only after asking
	changed   []change
}

// change is one file, before and after.
type change struct {
	place      string
	old, after []byte // old is nil for a file that is not there
}

var (
	_ fileskills.FS          = (*overlay)(nil)
	_ fileskills.Replacement = (*kept)(nil)
	_ fileskills.File        = (*content)(nil)
)

var errReadOnly = errors.New("nothing is changed to look at a proposal")

func (o *overlay) reads() fileskills.FS { return fileskills.Resolved(o.resolver) }

// Open reads beneath the agent's rules.
func (o *overlay) Open(unsafePath string) (fileskills.File, error) {
	f, err := o.reads().Open(unsafePath)
	return f, o.noteAsk(err)
}

// OpenDir, Stat and Lstat are the resolver's.
func (o *overlay) OpenDir(unsafePath string) (fileskills.Dir, error) {
	return o.reads().OpenDir(unsafePath)
}

// Stat is the resolver's.
func (o *overlay) Stat(unsafePath string) (fs.FileInfo, error) { return o.reads().Stat(unsafePath) }

// Lstat is the resolver's.
func (o *overlay) Lstat(unsafePath string) (fs.FileInfo, error) { return o.reads().Lstat(unsafePath) }

// MkdirAll, Rename and Remove do nothing.
func (o *overlay) MkdirAll(string) (bool, error) { return false, errReadOnly }

// Rename does nothing.
func (o *overlay) Rename(string, string, bool) error { return errReadOnly }

// Remove does nothing.
func (o *overlay) Remove(string) error { return errReadOnly }

// WritePaths are the rules'.
func (o *overlay) WritePaths() []string { return o.resolver.WritePaths() }

// Resolve asks the rules, and notes where a skill wants to write elsewhere.
func (o *overlay) Resolve(a access.Action, unsafePath string) (string, error) {
	if a.Kind() != access.KindRead {
		o.leads(unsafePath)
	}
	place, err := o.reads().Resolve(a, unsafePath)
	return place, o.noteAsk(err)
}

// noteAsk notes what may be read only after asking, which is not done here.
func (o *overlay) noteAsk(err error) error {
	var denied *pathresolver.DeniedError
	if errors.As(err, &denied) && denied.Rule == pathresolver.RuleAsk {
		o.unread = true
	}
	return err
}

// leads is the place of a path that is to be written.
func (o *overlay) leads(unsafePath string) string {
	place := resolved.Explain(o.resolver, access.OpWrite, unsafePath).Place
	if o.only != "" && place != o.only && o.elsewhere == "" {
		if o.elsewhere = place; place == "" {
			o.elsewhere = unsafePath
		}
	}
	return place
}

// Replace remembers new content.
func (o *overlay) Replace(unsafePath string, how fileskills.ReplaceOptions) (fileskills.Replacement, error) {
	if _, err := o.resolver.Resolve(access.OpWrite, unsafePath, 0); errors.As(err, new(*pathresolver.DeniedError)) {
		return nil, o.noteAsk(err)
	}
	k := &kept{of: o, place: o.leads(unsafePath)}
	if k.place == "" || o.elsewhere != "" {
		return nil, errReadOnly
	}
	old, err := o.old(k.place)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil && how.MustExist:
		return nil, err
	case err == nil && how.MustBeNew:
		return nil, fs.ErrExist
	case err == nil:
		k.old = old
	}
	return k, nil
}

// old is a file as it is after what was written so far.
func (o *overlay) old(place string) (*content, error) {
	if i := o.index(place); i >= 0 {
		return &content{Reader: bytes.NewReader(o.changed[i].after), place: place, data: o.changed[i].after}, nil
	}
	f, err := o.resolver.OpenRead(place)
	if err != nil {
		return nil, o.noteAsk(err)
	}
	defer func() { _ = f.Close() }() // was only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("there is no regular file")
	case info.Size() > maxContent:
		return nil, o.refuseLarge()
	}
	data, err := io.ReadAll(io.LimitReader(f, maxContent+1))
	if err == nil && len(data) > maxContent {
		err = o.refuseLarge()
	}
	if err != nil {
		return nil, err
	}
	return &content{Reader: bytes.NewReader(data), place: place, data: data, perm: info.Mode()}, nil
}

func (o *overlay) index(place string) int {
	return slices.IndexFunc(o.changed, func(c change) bool { return c.place == place })
}

func (o *overlay) refuseLarge() error {
	o.tooLarge = true
	return errTooLarge
}

var errTooLarge = errors.New("the file is too large for a difference to be made")

// content is a file in memory.
type content struct {
	*bytes.Reader
	place string
	data  []byte
	perm  fs.FileMode
}

// Close has nothing to close.
func (c *content) Close() error { return nil }

// Place is where the file is.
func (c *content) Place() string { return c.place }

// Stat describes the content.
func (c *content) Stat() (fs.FileInfo, error) { return info{c}, nil }

// info describes a file in memory, which has no identity: Sys is nil.
type info struct{ *content }

func (i info) Name() string       { return i.place }
func (i info) Mode() fs.FileMode  { return i.perm.Perm() }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }

// kept is new content that goes nowhere.
type kept struct {
	of    *overlay
	place string
	old   *content
	bytes.Buffer
}

// Old is the file as it is, nil for none.
func (k *kept) Old() fileskills.File {
	if k.old == nil {
		return nil
	}
	return k.old
}

// Place is where the content would go.
func (k *kept) Place() string { return k.place }

// Close forgets it.
func (k *kept) Close() error { return nil }

// Write takes content up to the bound.
func (k *kept) Write(p []byte) (int, error) {
	if k.Len()+len(p) > maxContent {
		return 0, k.of.refuseLarge()
	}
	return k.Buffer.Write(p)
}

// CopyFrom takes the content of a file up to the bound.
func (k *kept) CopyFrom(ctx context.Context, src fileskills.File) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return io.Copy(struct{ io.Writer }{k}, io.LimitReader(src, maxContent+1))
}

// Commit keeps it as what the file would be.
func (k *kept) Commit(ctx context.Context, _ func(fileskills.File) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	after := bytes.Clone(k.Bytes())
	if i := k.of.index(k.place); i >= 0 {
		k.of.changed[i].after = after
		return nil
	}
	c := change{place: k.place, after: after}
	if k.old != nil {
		c.old = append([]byte{}, k.old.data...)
	}
	k.of.changed = append(k.of.changed, c)
	return nil
}
