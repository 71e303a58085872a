package fileskills

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// pinned is the FS of one call: the paths that the call names are resolved once,
// and what is done with them is done at the places that they led to then, which
// are those that the gate was asked about. Other paths are resolved as they come.
type pinned struct {
	resolverFS                        // with what was granted to the call
	bound      *pathresolver.Resolver // likewise, for places
	own        *pathresolver.Resolver // without it
	given      []access.Access        // what was granted
	pins       []pin
}

// pin is where a path led.
type pin struct {
	path   string
	follow bool // of a last link
	place  string
	arg    string // the place, with a slash where the path insists on a directory
}

var _ FS = (*pinned)(nil)

// placed is what a call asks of its resolver about places, which are exported to
// nobody else.
type placed interface {
	Bound() *pathresolver.Resolver
	Decide(op access.Op, place string, kind fs.FileMode) *pathresolver.DeniedError
	Granted(grant pathresolver.Grant) *pathresolver.Resolver
}

func behind(r *pathresolver.Resolver) placed { return resolved.Of(r).(placed) }

// grant is what one more access lets the same call do.
func (f *pinned) grant(a access.Access) {
	for _, also := range access.ActionsOf(access.KindRead, access.KindWrite) {
		if also.GrantedAs() == a.Action.GrantedAs() {
			f.given = append(f.given, access.Access{Action: also, Resource: a.Resource})
		}
	}
	f.r = behind(f.own).Granted(resolved.GrantFor(f.given...))
	f.bound = behind(f.r).Bound()
}

// follows reports whether an action is about what a last link leads to.
func follows(a access.Action) bool { return a != access.FSMove && a != access.FSDelete }

func (f *pinned) Resolve(a access.Action, unsafePath string) (place string, err error) {
	op, kind, err := opOf(a)
	if err != nil {
		return "", err
	}
	if p := f.pin(unsafePath, follows(a)); p != nil {
		if d := behind(f.r).Decide(op, p.place, kind); d != nil {
			d.Path = unsafePath
			return p.place, d
		}
		return p.place, nil
	}
	place, err = f.r.Resolve(op, unsafePath, kind)
	if place != "" {
		arg := place
		if strings.HasSuffix(unsafePath, "/") || strings.HasSuffix(unsafePath, "/.") {
			arg += "/"
		}
		f.pins = append(f.pins, pin{unsafePath, follows(a), place, arg})
	}
	return place, err
}

func (f *pinned) pin(unsafePath string, follow bool) *pin {
	i := slices.IndexFunc(f.pins, func(p pin) bool { return p.path == unsafePath && p.follow == follow })
	if i < 0 {
		return nil
	}
	return &f.pins[i]
}

// at is the resolver for a path, and what to ask it.
func (f *pinned) at(unsafePath string, follow bool) (*resolverFS, string) {
	if p := f.pin(unsafePath, follow); p != nil {
		return &resolverFS{r: f.bound, sync: f.sync}, p.arg
	}
	return &f.resolverFS, unsafePath
}

// asGiven puts the caller's spelling into an error about a place.
func asGiven(err error, place, unsafePath string) error {
	var d *pathresolver.DeniedError
	var pe *fs.PathError
	switch {
	case err == nil || place == unsafePath:
	case errors.As(err, &d) && d.Path == place:
		d.Path = unsafePath
	case errors.As(err, &pe) && pe.Path == place:
		pe.Path = unsafePath
	}
	return err
}

func (f *pinned) Open(unsafePath string) (File, error) {
	r, p := f.at(unsafePath, true)
	file, err := r.Open(p)
	return file, asGiven(err, p, unsafePath)
}

func (f *pinned) OpenDir(unsafePath string) (Dir, error) {
	r, p := f.at(unsafePath, true)
	d, err := r.OpenDir(p)
	return d, asGiven(err, p, unsafePath)
}

func (f *pinned) Stat(unsafePath string) (fs.FileInfo, error) {
	r, p := f.at(unsafePath, true)
	info, err := r.Stat(p)
	return info, asGiven(err, p, unsafePath)
}

func (f *pinned) Lstat(unsafePath string) (fs.FileInfo, error) {
	r, p := f.at(unsafePath, false)
	info, err := r.Lstat(p)
	return info, asGiven(err, p, unsafePath)
}

func (f *pinned) MkdirAll(unsafePath string) (created bool, err error) {
	r, p := f.at(unsafePath, true)
	created, err = r.MkdirAll(p)
	return created, asGiven(err, p, unsafePath)
}

func (f *pinned) Rename(unsafeOld, unsafeNew string, overwrite bool) error {
	r, from := f.at(unsafeOld, false)
	to, into := f.at(unsafeNew, false)
	if r.r != to.r { // not both are of the call
		return f.resolverFS.Rename(unsafeOld, unsafeNew, overwrite)
	}
	return asGiven(asGiven(r.Rename(from, into, overwrite), from, unsafeOld), into, unsafeNew)
}

func (f *pinned) Remove(unsafePath string) error {
	r, p := f.at(unsafePath, false)
	return asGiven(r.Remove(p), p, unsafePath)
}

func (f *pinned) Replace(unsafePath string, o ReplaceOptions) (Replacement, error) {
	r, p := f.at(unsafePath, true)
	w, err := r.Replace(p, o)
	return w, asGiven(err, p, unsafePath)
}
