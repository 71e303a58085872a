package fileskills

import (
	"reflect"

	"github.com/pinfold-dev/pinfold/access"
)

// Use is one thing that a call is about to do: an action at a path, which is
// as the caller gave it and not yet resolved.
type Use struct {
	Path   string // unsafe until the FS has resolved it
	Action access.Action
}

// PathArgument is an argument that holds paths, nested ones spelled like
// "edits[].path", and what is done there.
type PathArgument struct {
	Name    string
	Actions []access.Action
}

// The types of path arguments. A field of a skill's input that holds a path
// has one of them, wherever in the input it stands; Uses follow by reflection.
type (
	// ReadPath is a file that is read.
	ReadPath string
	// ListPath is a file or directory that is listed, searched or described.
	ListPath string
	// WritePath is a file whose content is made or replaced.
	WritePath string
	// EditPath is a file that is read and then changed.
	EditPath string
	// CreatePath is a directory that is made.
	CreatePath string
	// MovePath is a name that goes away or comes to be by a move.
	MovePath string
	// DeletePath is a name that is removed.
	DeletePath string
)

// pathActions is what each type of path argument stands for.
var pathActions = map[reflect.Type][]access.Action{
	reflect.TypeFor[ReadPath]():   {access.FSRead},
	reflect.TypeFor[ListPath]():   {access.FSList},
	reflect.TypeFor[WritePath]():  {access.FSWrite},
	reflect.TypeFor[EditPath]():   {access.FSRead, access.FSWrite},
	reflect.TypeFor[CreatePath](): {access.FSCreate},
	reflect.TypeFor[MovePath]():   {access.FSMove},
	reflect.TypeFor[DeletePath](): {access.FSDelete},
}

// pathUser is a string argument that holds paths within, like the text of a
// patch. Its zero value answers actions.
type pathUser interface {
	uses() ([]Use, error)     // an error is an *Error
	actions() []access.Action // every one that uses can answer
}
