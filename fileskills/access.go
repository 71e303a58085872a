package fileskills

import (
	"reflect"

	"github.com/pinfold-dev/pinfold/access"
)

// use is one thing that a call is about to do: an action at a path, which is
// as the caller gave it and not yet resolved.
type use struct {
	Path   string // unsafe until the FS has resolved it
	Action access.Action
}

// pathArgument is an argument that holds paths, nested ones spelled like
// "edits[].path", and what is done there.
type pathArgument struct {
	Name    string
	Actions []access.Action
}

// The types of path arguments. A field of a skill's input that holds a path
// has one of them, wherever in the input it stands; Uses follow by reflection.
type (
	// readPath is a file that is read.
	readPath string
	// listPath is a file or directory that is listed, searched or described.
	listPath string
	// writePath is a file whose content is made or replaced.
	writePath string
	// editPath is a file that is read and then changed.
	editPath string
	// createPath is a directory that is made.
	createPath string
	// movePath is a name that goes away or comes to be by a move.
	movePath string
	// deletePath is a name that is removed.
	deletePath string
)

// pathActions is what each type of path argument stands for.
var pathActions = map[reflect.Type][]access.Action{
	reflect.TypeFor[readPath]():   {access.FSRead},
	reflect.TypeFor[listPath]():   {access.FSList},
	reflect.TypeFor[writePath]():  {access.FSWrite},
	reflect.TypeFor[editPath]():   {access.FSRead, access.FSWrite},
	reflect.TypeFor[createPath](): {access.FSCreate},
	reflect.TypeFor[movePath]():   {access.FSMove},
	reflect.TypeFor[deletePath](): {access.FSDelete},
}

// pathUser is a string argument that holds paths within, like the text of a
// patch. Its zero value answers actions.
type pathUser interface {
	uses() ([]use, error)     // an error is an *Error
	actions() []access.Action // every one that uses can answer
}
