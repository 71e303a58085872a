package policyflag

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// codeNotListed is the finding about a write path that the flags name, and the
// list of the policy that is named does not.
const codeNotListed access.Code = "path_not_listed"

// callerLayer is the file name that permission gives to what the flags say.
const callerLayer = "caller"

// lists is what a policy says about lists of write paths, behind the door.
type lists interface {
	// Unlisted returns the caller's write paths that have no effect, since nothing
	// that a caller adds widens a document.
	Unlisted() []policies.Unlisted
	// WriteList is where the innermost list stands, without what a caller adds.
	WriteList() (at access.Position, is bool)
}

// WriteList is where the innermost list of write paths of the named policy stands;
// is is false where no policy is named, or no document of it has one: then the flags
// give them.
func (p *Flags) WriteList() (at access.Position, is bool) {
	if p.Held == nil {
		return at, false
	}
	return policies.Of(p.Held).(lists).WriteList()
}

// refuseUnlisted refuses write paths that the policy's own list does not have. They
// would have no effect, and that must not happen in silence.
func (p *Flags) refuseUnlisted(policy *permission.Policy) error {
	var list []pathresolver.Violation
	p.At = map[string]access.Position{}
	for _, u := range policies.Of(policy).(lists).Unlisted() {
		at := p.Named.Placed(u.List)
		flag, field := "-w "+u.Path, "write_paths["+strconv.Itoa(u.Index)+"]"
		switch {
		case p.Git && u.Path == ".git" && u.Index >= len(p.WritePaths):
			flag, field = "--git", "git"
		case u.Index >= len(p.WritePaths):
			flag = "--write-paths-from " + p.ListFrom + ": " + u.Path
		}
		list = append(list, pathresolver.Violation{Code: codeNotListed, Severity: pathresolver.SeverityError, Field: field, Value: u.Path,
			Message: pathresolver.EscapePath(flag + ": " + at.String() + " lists the write paths and " + u.Path + " is not among them"),
			Hint:    pathresolver.EscapePath(listIt(u.Path, at))})
		p.At[field] = at
	}
	if list == nil {
		return nil
	}
	return cli.UsageError(&pathresolver.ConfigError{Violations: list}, "")
}

// listIt is what to do about a write path that the list at a place lacks.
func listIt(path string, at access.Position) string {
	key := "fs.write"
	switch {
	case strings.HasPrefix(at.File, "preset:"):
		return "flags only narrow '" + strings.TrimPrefix(at.File, "preset:") + "'; 'sandboxed' leaves the write paths to them"
	case strings.HasSuffix(at.File, ".md"):
		key = "write_paths"
	}
	return "list " + path + " in " + key + " of " + at.File
}

// ListHint is the same about a path that a verb was refused for; "" where the
// flags may give it.
func (p *Flags) ListHint(path string) string {
	if p.Held == nil {
		return ""
	}
	at, is := p.WriteList()
	by := p.Held.Check(context.Background(), access.Request{Action: access.FSWrite, Resource: path})
	if !is || by.Source.File == callerLayer {
		return ""
	}
	if path == ".git" || strings.HasPrefix(path, ".git/") {
		path = ".git"
	}
	return listIt(path, p.Named.Placed(at))
}

// Placed is a position in the policy's files by a name that can be opened from
// here.
func (p *From) Placed(at access.Position) access.Position {
	at.File = p.placedFile(at.File)
	return at
}

// placedFile is placed for a file's name: those of beside are relative to the
// policy's directory.
func (p *From) placedFile(file string) string {
	switch base := p.base(); {
	case file == callerLayer:
		return "the command line"
	case base != "." && !filepath.IsAbs(file) && !strings.HasPrefix(file, "preset:"):
		return filepath.Join(base, file)
	}
	return file
}
