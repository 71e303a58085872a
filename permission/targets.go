package permission

import (
	"slices"

	"github.com/pinfold-dev/pinfold/access"
)

// Targets says which agents an action or a tool may be aimed at: a word, or a list of
// agent ids. The zero value is absent: it restricts nothing.
type Targets struct {
	Word string   // parent, children, family or siblings; "" where IDs count
	IDs  []string // nil is absent, empty is nobody
}

// The words of Targets. They are refused as agent ids.
const (
	targetParent   = "parent"
	targetChildren = "children"
	targetFamily   = "family" // parent and children, exactly
	targetSiblings = "siblings"
)

var reservedWords = []string{targetParent, targetChildren, targetFamily, targetSiblings}

// isReserved reports whether id is a word of the schema and can be no agent's id.
func isReserved(id string) bool { return slices.Contains(reservedWords, id) }

func (t Targets) absent() bool { return t.Word == "" && t.IDs == nil }

// relation is how a target is related to the agent that asks, as the registry says,
// never the request.
type relation struct {
	parent             string // of the agent that asks; "" without one
	isParent           bool
	isChild, isSibling bool
}

// allows reports whether an agent that stands in rel may be aimed at; the code
// says why not.
func (t Targets) allows(id string, rel relation) (bool, access.Code) {
	switch {
	case t.absent():
		return true, ""
	case t.Word == "":
		return slices.Contains(t.IDs, id), CodeTargetNotListed
	case t.Word == targetParent:
		return rel.isParent, codeTargetNotParent
	case t.Word == targetChildren:
		return rel.isChild, codeTargetNotChild
	case t.Word == targetFamily:
		return rel.isParent || rel.isChild, codeTargetNotFamily
	case t.Word == targetSiblings:
		return rel.isSibling, codeTargetNotSibling
	}
	return false, codeUnknownRestriction
}

// within reports whether everything that t allows u allows too.
func (t Targets) within(u Targets) bool {
	switch {
	case u.absent():
		return true
	case t.absent():
		return false
	case t.Word == "":
		if u.Word == "" {
			for _, id := range t.IDs {
				if !slices.Contains(u.IDs, id) {
					return false
				}
			}
			return true
		}
		return len(t.IDs) == 0
	case t.Word == u.Word:
		return true
	}
	return u.Word == targetFamily && (t.Word == targetParent || t.Word == targetChildren)
}

// text is how a message shows the restriction.
func (t Targets) text() string {
	switch {
	case t.absent():
		return "any agent"
	case t.Word != "":
		return t.Word
	case len(t.IDs) == 0:
		return "nobody"
	}
	return listText(t.IDs)
}
