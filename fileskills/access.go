package fileskills

import "reflect"

// Access is what a skill needs at a path.
type Access uint8

const (
	// AccessRead reads content, names or attributes.
	AccessRead Access = 1 << iota
	// AccessWrite makes, changes, moves or removes.
	AccessWrite
)

// Action is what is done at a path, in the words that policies use.
type Action string

// The actions of the skills.
const (
	ActionRead   Action = "fs.read"
	ActionList   Action = "fs.list"
	ActionWrite  Action = "fs.write"  // change, or make, a file's content
	ActionCreate Action = "fs.create" // make a directory
	ActionDelete Action = "fs.delete"
	ActionMove   Action = "fs.move"
)

// Access is what the action needs. An action that is not known needs
// everything.
func (a Action) Access() Access {
	switch a {
	case ActionRead, ActionList:
		return AccessRead
	case ActionWrite, ActionCreate, ActionDelete, ActionMove:
		return AccessWrite
	}
	return AccessRead | AccessWrite
}

// Use is one thing that a call is about to do: an action at a path, which is
// as the caller gave it and not yet resolved.
type Use struct {
	Path   string // unsafe until the FS has resolved it
	Action Action
}

// PathArgument is an argument that holds paths, nested ones spelled like
// "edits[].path", and what is done there.
type PathArgument struct {
	Name    string
	Actions []Action
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
var pathActions = map[reflect.Type][]Action{
	reflect.TypeFor[ReadPath]():   {ActionRead},
	reflect.TypeFor[ListPath]():   {ActionList},
	reflect.TypeFor[WritePath]():  {ActionWrite},
	reflect.TypeFor[EditPath]():   {ActionRead, ActionWrite},
	reflect.TypeFor[CreatePath](): {ActionCreate},
	reflect.TypeFor[MovePath]():   {ActionMove},
	reflect.TypeFor[DeletePath](): {ActionDelete},
}

// pathUser is a string argument that holds paths within, like the text of a
// patch. Its zero value answers actions.
type pathUser interface {
	uses() ([]Use, error) // an error is an *Error
	actions() []Action    // every one that uses can answer
}
