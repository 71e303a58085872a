package main

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// codeNotListed is the finding about a write path that the flags name, and the
// list of the policy that is named does not.
const codeNotListed pathresolver.Code = "path_not_listed"

// callerLayer is the file name that permission gives to what the flags say.
const callerLayer = "caller"

// refuseUnlisted refuses write paths that a policy with a list of its own does
// not have. It would hold none of them: rather than to take away in silence
// what it lists, say so.
func (p *policyFlags) refuseUnlisted(policy *permission.Policy) error {
	var list []pathresolver.Violation
	p.at = map[string]permission.Position{}
	for _, u := range policy.Unlisted() {
		at := p.named.placed(u.List)
		flag, field := "-w "+u.Path, "write_paths["+strconv.Itoa(u.Index)+"]"
		switch {
		case p.git && u.Path == ".git" && u.Index >= len(p.writePaths):
			flag, field = "--git", "git"
		case u.Index >= len(p.writePaths):
			flag = "--write-paths-from " + p.from + ": " + u.Path
		}
		list = append(list, pathresolver.Violation{Code: codeNotListed, Severity: pathresolver.SeverityError, Field: field, Value: u.Path,
			Message: pathresolver.EscapePath(flag + ": " + at.String() + " lists the write paths and " + u.Path + " is not among them"),
			Hint:    pathresolver.EscapePath(listIt(u.Path, at))})
		p.at[field] = at
	}
	if list == nil {
		return nil
	}
	return usageError(&pathresolver.ConfigError{Violations: list}, "")
}

// listIt is what to do about a write path that the list at a place lacks.
func listIt(path string, at permission.Position) string {
	key := "fs.write"
	switch {
	case strings.HasPrefix(at.File, "preset:"):
		return "flags only narrow '" + strings.TrimPrefix(at.File, "preset:") + "'; 'sandboxed' leaves the write paths to them"
	case strings.HasSuffix(at.File, ".md"):
		key = "write_paths"
	}
	return "list " + path + " in " + key + " of " + at.File
}

// listHint is the same about a path that a verb was refused for; "" where the
// flags may give it.
func (p *policyFlags) listHint(path string) string {
	if p.held == nil {
		return ""
	}
	at, lists := p.held.WriteList()
	by := p.held.Check(context.Background(), permission.Request{Action: access.FSWrite, Resource: path})
	if !lists || by.Source.File == callerLayer {
		return ""
	}
	if path == ".git" || strings.HasPrefix(path, ".git/") {
		path = ".git"
	}
	return listIt(path, p.named.placed(at))
}

// placed is a position in the policy's files by a name that can be opened from
// here.
func (p *policyFrom) placed(at permission.Position) permission.Position {
	at.File = p.placedFile(at.File)
	return at
}

// placedFile is placed for a file's name: those of beside are relative to the
// policy's directory.
func (p *policyFrom) placedFile(file string) string {
	switch base := p.base(); {
	case file == callerLayer:
		return "the command line"
	case base != "." && !filepath.IsAbs(file) && !strings.HasPrefix(file, "preset:"):
		return filepath.Join(base, file)
	}
	return file
}
