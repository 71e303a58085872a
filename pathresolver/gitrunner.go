package pathresolver

import (
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/gitrepo"
)

// byGit begins the origin of a rule that protects what git's configuration names.
const byGit = "git's "

// NamedByGit says where git's configuration, as it was when New ran, names a place or
// one above it for git to run or read by itself; "" if it does not. It looks at the
// name only and is safe for use by many goroutines.
func (r inside) NamedByGit(place string) string {
	if g := r.protect.covers(place); g != nil && strings.HasPrefix(g.origin, byGit) {
		return g.origin
	}
	return ""
}

// placeNamed is the place that configuration names, or the directory beneath which
// it names others. What counts at any depth counts in a part of a work tree, too.
func (r *Resolver) placeNamed(n gitrepo.Named) (string, bool) {
	place, ok := r.placeOf(n.Path)
	if !ok && strings.HasPrefix(n.Glob, "**/") && strings.HasPrefix(r.root, strings.TrimSuffix(n.Path, "/")+"/") {
		return ".", true
	}
	return place, ok
}

// globNamed is the glob that protects what configuration names, and what messages
// call it.
func globNamed(n gitrepo.Named, place string) (text, called string) {
	switch {
	case n.Glob == "":
		return escapeGlob(place), place
	case place == ".":
		return n.Glob, n.Glob
	}
	return escapeGlob(place) + "/" + n.Glob, place + "/" + n.Glob
}

// waysTo are the places that lead to what configuration names: as a link one of
// them would lead elsewhere.
func waysTo(n gitrepo.Named, place string) (ways []string) {
	if n.Glob != "" {
		for name := range strings.SplitSeq(n.Glob, "/") {
			place = joinPlace(place, name)
		}
	}
	for above, _ := splitPlace(place); above != "."; above, _ = splitPlace(above) {
		if !strings.ContainsAny(above, "*") || n.Glob == "" {
			ways = append(ways, above)
		}
	}
	return ways
}

// noteRunners keeps the commands that run files of the project without naming them, to
// warn of those that the agent may write.
func (r *Resolver) noteRunners(f *findings, repo *gitrepo.Repository) {
	for _, n := range repo.Runners {
		for _, file := range n.Reads {
			if place, ok := r.placeOf(file); ok && place != "." {
				f.runners = append(f.runners, gitRunner{n, place})
				break
			}
		}
	}
}

// gitRunner is a command of git's configuration and the place where it would look
// first.
type gitRunner struct {
	gitrepo.Runner
	reads string
}

// warnRunners tells of the commands of git's configuration that run files which may be
// written. These are warnings and not errors: people have make and npm run in their
// configuration, and agents are there to write Makefile and package.json.
func (r *Resolver) warnRunners(f *findings) {
	for _, n := range f.runners {
		if v := r.verdictAt(n.reads); !v.Writable && !v.AskWrite {
			continue
		}
		by := r.namedBy(gitrepo.Named{Key: n.Key, File: n.File, Line: n.Line})
		what, hint := fmt.Sprintf("does what '%s' says", EscapePath(n.reads)), fmt.Sprintf("name a program outside of the project there, or --protect '%s'", EscapePath(escapeGlob(n.reads)))
		if n.Python {
			what, hint = fmt.Sprintf("takes any module, as '%s', from the project first", EscapePath(n.reads)), "say python3 -I there"
		}
		if n.Driver {
			what += "; .gitattributes, which turns it on, stays as it is"
		}
		f.add(Violation{Code: CodeGitRuns, Severity: SeverityWarning, Field: "git", Value: EscapePath(n.Command),
			Message: fmt.Sprintf("%s runs '%s', which %s", by, EscapePath(n.Command), what), Hint: hint})
	}
}
