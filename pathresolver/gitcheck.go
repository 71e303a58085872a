package pathresolver

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// maxGitText bounds a file .git, a commondir and a configuration, in bytes.
const maxGitText = 1 << 20

// gitContentOf is the rule about the content of a name in a git directory.
func gitContentOf(rest string) resolved.GitContent {
	switch {
	case isGitNumber(rest):
		return resolved.GitNumber
	case isTableList(rest):
		return resolved.GitTables
	}
	if _, below, ok := gitWorktree(rest); ok {
		rest = below
	}
	dir, name := splitPlace(rest)
	if dir != "." && !strings.HasPrefix(rest, "modules/") {
		return resolved.GitFree
	}
	switch {
	case name == "index" || strings.HasPrefix(name, "sharedindex."):
		return resolved.GitIndex
	case name == "config" || name == "config.worktree":
		return resolved.GitConfig
	case name == "packed-refs":
		return resolved.GitRefs
	}
	return resolved.GitFree
}

// isGitNumber reports whether a name beneath a git directory says how far a rebase
// or am is.
func isGitNumber(rest string) bool {
	if !strings.Contains(rest, "rebase-") {
		return false
	}
	if _, below, ok := gitWorktree(rest); ok {
		rest = below
	}
	return slices.ContainsFunc(gitRests(rest), func(at string) bool {
		switch at {
		case "rebase-merge/msgnum", "rebase-merge/end", "rebase-apply/next", "rebase-apply/last":
			return true
		}
		return false
	})
}

// isTableList reports whether a name beneath a git directory is that of the list of a
// reftable's tables (gitformat-reftable(5)).
func isTableList(rest string) bool {
	if !strings.HasSuffix(rest, tableList) {
		return false
	}
	if _, below, ok := gitWorktree(rest); ok {
		rest = below
	}
	return slices.Contains(gitRests(rest), tableList)
}

const tableList = "reftable/tables.list"

// gitContent says which rule the content of what is at a place is under. Where
// it is under one, Decide refuses to write it in place (RuleGitContent); a
// surface that can check content before it is seen may go on by it.
func (r *Resolver) gitContent(place string) resolved.GitContent {
	if r.git == nil {
		return resolved.GitFree
	}
	_, name := splitPlace(place)
	if isDotGit(name) {
		return resolved.GitLink
	}
	at, ok := r.git.find(place, 0)
	if !ok {
		return resolved.GitFree
	}
	if _, below, ok := gitWorktree(at.rest); ok && below == "commondir" {
		return resolved.GitCommonDir
	} else if ok && below == "gitdir" {
		return resolved.GitTreeLink
	}
	return gitContentOf(at.rest)
}

// GitTriesLink reports whether a symbolic link to target at a place is the one by
// which "git init" finds out whether there are links ("testing", at a name of
// its own that nothing else has), and which it removes at once. Without it the new
// repository would have core.symlinks=false.
func (r inside) GitTriesLink(place, target string) bool {
	if r.git == nil || target != "testing" {
		return false
	}
	at, ok := r.git.named(place)
	if !ok || !r.git.isMade(at.dir) {
		return false
	}
	_, name := splitPlace(place)
	return len(name) == len("tXXXXXX") && name[0] == 't' && len(at.rest) == len(name) && name != target
}

// gitHook reports whether a place is that of a hook in a git directory. Decide
// refuses to make one in a git directory that was made through this resolver
// (RuleGitContent); a surface that keeps it from being executable may go on.
func (r *Resolver) gitHook(place string) bool {
	if r.git == nil {
		return false
	}
	at, ok := r.git.find(place, 0)
	return ok && isHook(at.rest)
}

// isHook reports whether a name beneath a git directory is that of a hook; what
// "git init" brings along as samples, git does not run.
func isHook(rest string) bool {
	return !strings.HasSuffix(rest, ".sample") &&
		slices.ContainsFunc(gitRests(rest), func(at string) bool { return strings.HasPrefix(at, "hooks/") })
}

// checkGitText says whether data may be the whole content of what is at a place
// of the kinds GitLink, GitCommonDir, GitTreeLink and GitNumber. A file .git names a
// git directory of the work tree that it lies in: anything else could be put in the
// place of what it names later, or is a repository that the operator has elsewhere.
func (r *Resolver) checkGitText(place string, data []byte) *DeniedError {
	text := strings.TrimRight(string(data), "\r\n")
	if len(data) > maxGitText || strings.ContainsAny(text, "\x00\r\n") {
		return r.gitDenied(access.OpWrite, place, RuleGitContent, "it has one line")
	}
	switch r.gitContent(place) {
	case resolved.GitCommonDir:
		if text != "../.." {
			return r.gitDenied(access.OpWrite, place, RuleGitContent, "the commondir of a work tree is always \"../..\"")
		}
		return nil
	case resolved.GitTreeLink:
		return r.checkTreeLink(place, text)
	case resolved.GitNumber:
		if strings.Trim(text, "0123456789") != "" {
			return r.gitDenied(access.OpWrite, place, RuleGitContent, "how far a rebase is, is a number: shells show it in their prompts")
		}
		return nil
	}
	to, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok {
		return r.gitDenied(access.OpWrite, place, RuleGitContent, "a file .git begins with \"gitdir: \"")
	}
	if r.git != nil && r.git.leads(r.root, place, to) {
		return nil
	}
	return r.gitDenied(access.OpWrite, place, RuleGitContent,
		fmt.Sprintf("it names %q, which is neither .git/worktrees/NAME or .git/modules/NAME of a directory above nor a work tree's that was made here", EscapePath(clipText(to))))
}

// checkTreeLink is checkGitText for the gitdir of a linked work tree.
func (r *Resolver) checkTreeLink(place, text string) *DeniedError {
	dir, _ := splitPlace(place)
	at := text
	if !path.IsAbs(at) { // worktree.useRelativePaths
		at = path.Join(r.root, dir, at)
	}
	base := path.Base(at)
	for _, root := range append([]string{r.root}, r.git.trees...) {
		dotGit, in := strings.CutPrefix(at, strings.TrimSuffix(root, "/")+"/")
		switch {
		case !in || !isDotGit(base) || path.Clean(at) != at || hasDotGit(strings.TrimSuffix(dotGit, base)):
			continue // so that a link on the way, or "..", has no part in it
		case root != r.root || r.mayBeTree(dotGit):
			return nil
		}
		return r.gitDenied(access.OpWrite, place, RuleGitContent, "it names a work tree that stood there before, or one that there is no room for")
	}
	return r.gitDenied(access.OpWrite, place, RuleGitContent, fmt.Sprintf("it names %q, which is no file .git in the project", EscapePath(clipText(text))))
}

// mayBeTree reports whether a new work tree may have its file .git at a place: where
// none stands, or one that was made through this resolver. From then on none of the
// way there becomes a link, since "git worktree remove" empties what it finds.
func (r *Resolver) mayBeTree(dotGit string) bool {
	if id, _, there := r.git.at(dotGit); there && !r.git.made.has(id) {
		return false
	}
	tree, _ := splitPlace(dotGit)
	return r.git.ways.addWithin("a work tree of the repository", tree)
}

// leads reports whether the text of a file .git names a linked work tree's or a
// submodule's git directory in the .git of a directory above it.
func (g *gitGuard) leads(root, place, to string) bool {
	dir, _ := splitPlace(place)
	at := to
	if !path.IsAbs(to) {
		at = path.Join(root, dir, to)
	}
	if path.Clean(at) != at { // so that a link on the way has no part in it
		return false
	}
	for above := dir; ; above, _ = splitPlace(above) {
		if inGitDir(at, path.Join(root, above, ".git")) {
			return true
		}
		if above == "." {
			break
		}
	}
	// The work tree of a repository that was made here may lie anywhere.
	if at, beneath := strings.CutPrefix(at, root+"/"); beneath {
		trees, name := splitPlace(at)
		gitDir, kind := splitPlace(trees)
		_, dot := splitPlace(gitDir)
		if id, _, there := g.at(at); name != "" && kind == "worktrees" && isDotGit(dot) && there && g.made.has(id) {
			return true
		}
	}
	return slices.ContainsFunc(g.outside, func(d string) bool { return inGitDir(at, d) }) || g.bare() && inGitDir(at, root)
}

// inGitDir reports whether an absolute path is that of a linked work tree or of
// a submodule in a git directory.
func inGitDir(at, gitDir string) bool {
	rest, ok := strings.CutPrefix(at, gitDir+"/")
	kind, name, ok2 := strings.Cut(rest, "/")
	return ok && ok2 && name != "" && (kind == "modules" || kind == "worktrees" && !strings.Contains(name, "/"))
}

// clipText keeps a message short.
func clipText(s string) string { return s[:min(len(s), 200)] }
