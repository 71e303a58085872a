package pathresolver

import (
	"io/fs"
	"runtime"
	"slices"
	"strings"
)

// gitSubdirs are the directories that git itself has in a git directory. A bare
// repository may have work trees beside them.
var gitSubdirs = []string{"objects", "refs", "logs", "info", "hooks", "worktrees", "modules", "rebase-merge", "rebase-apply",
	"sequencer", "rr-cache", "branches", "remotes", "lfs", "annex", "svn", "reftable", "fsmonitor--daemon"}

// gitAt is a place in a git directory.
type gitAt struct {
	dir  string // the git directory
	rest string // beneath it, folded; "" for itself
	link bool   // dir is named .git, and may be a file
}

// findRoots looks whether the root is a git directory itself: a bare
// repository, or the .git of one.
func (g *gitGuard) findRoots() {
	_, head, ok := g.at("HEAD")
	_, objects, ok2 := g.at("objects")
	_, refs, ok3 := g.at("refs")
	if ok && ok2 && ok3 && !head.IsDir() && objects.IsDir() && refs.IsDir() {
		g.dirs = append(g.dirs, ".")
	}
}

// bare reports whether the root itself is a git directory.
func (g *gitGuard) bare() bool { return slices.Contains(g.dirs, ".") }

// named finds the git directory by the names of a place alone.
func (g *gitGuard) named(place string) (gitAt, bool) {
	for _, d := range g.dirs {
		if d == "." {
			if first, _, deeper := strings.Cut(fold(place), "/"); place != "." && (!deeper || slices.Contains(gitSubdirs, first)) {
				return gitAt{dir: ".", rest: fold(place)}, true
			}
		} else if within(place, d) {
			return gitAt{dir: d, rest: fold(strings.TrimPrefix(place[len(d):], "/"))}, true
		}
	}
	for start := 0; start < len(place); {
		end := strings.IndexByte(place[start:], '/')
		if end = start + end; end < start {
			end = len(place)
		}
		if isDotGit(place[start:end]) {
			return gitAt{dir: place[:end], rest: fold(strings.TrimPrefix(place[end:], "/")), link: true}, true
		}
		start = end + 1
	}
	return gitAt{}, false
}

// isDotGit reports whether a name is ".git", or is to some file system.
func isDotGit(name string) bool {
	switch {
	case len(name) == len(".git"):
		return name[0] == '.' && strings.EqualFold(name, ".git")
	case len(name) < len(".git") || name[0] != '.' && name[0] < 0x80:
		return false
	}
	return fold(name) == ".git"
}

// isHead reports whether a name is the file that makes a git directory. Where
// file systems commonly fold case, so does this.
func isHead(place string) bool {
	_, name := splitPlace(place)
	return name == "HEAD" || runtime.GOOS != "linux" && strings.EqualFold(name, "HEAD")
}

// unnamed finds a git directory that only its file HEAD shows. any looks at
// every directory above the place; otherwise only where the place would have a
// name with a rule.
func (g *gitGuard) unnamed(place string, any bool) (gitAt, bool) {
	for i := len(place); i > 0; {
		i = strings.LastIndexByte(place[:i], '/')
		dir, rest := ".", place
		if i >= 0 {
			dir, rest = place[:i], place[i+1:]
		}
		if any || gitSpecial(rest) {
			first, _, deeper := strings.Cut(fold(rest), "/")
			if (!deeper || slices.Contains(gitSubdirs, first)) && g.hasHead(dir) {
				return gitAt{dir: dir, rest: fold(rest)}, true
			}
		}
	}
	return gitAt{}, false
}

// gitSpecial reports whether what is beneath a directory would have a rule if
// that were a git directory. It is asked at each change of a name.
func gitSpecial(rest string) bool {
	first, tail, deeper := strings.Cut(rest, "/")
	if len(first) > len("sharedindex.")+64 {
		return false
	}
	switch first[0] | 0x20 {
	case 'h', 'c', 'i', 'l', 'm', 'o', 'p', 'r', 'b', 'w', 's':
	default:
		if first[0] < 0x80 {
			return false
		}
		if rest = fold(rest); rest[0] >= 0x80 {
			return false
		}
		return gitSpecial(rest)
	}
	first = fold(first)
	switch first {
	case "hooks", "remotes", "branches", "worktrees", "rebase-merge", "rebase-apply", "sequencer", "rr-cache":
		return true
	case "config", "config.worktree", "commondir", "index", "config.lock", "config.worktree.lock", "index.lock", "merge_rr", "merge_autostash", "packed-refs", "packed-refs.new", "lazygit.yml":
		return !deeper
	case "refs":
		return fold(tail) == "replace" || strings.HasPrefix(fold(tail), "replace/")
	case "reftable":
		tail = fold(tail)
		return tail == "tables.list" || tail == "tables.list.lock"
	case "info", "objects":
		tail = fold(tail)
		return tail == "attributes" || tail == "grafts" || tail == "info/alternates" || tail == "info/http-alternates" || tail == "pack/multi-pack-index"
	}
	return !deeper && (strings.HasPrefix(first, "sharedindex") || strings.HasPrefix(first, "next-index-") || strings.HasPrefix(first, "index.stash."))
}

// hasHead reports whether a directory has the file that makes it a git
// directory.
func (g *gitGuard) hasHead(dir string) bool {
	_, _, ok := g.at(joinPlace(dir, "HEAD"))
	return ok
}

// find finds the git directory that a place lies in, if its rules say anything
// about it.
func (g *gitGuard) find(place string, kind fs.FileMode) (gitAt, bool) {
	if at, ok := g.named(place); ok {
		return at, true
	}
	return g.unnamed(place, kind.Type()&^fs.ModeDir != 0)
}

// isMade reports whether the directory at a place was made through this
// resolver, or is still to be made.
func (g *gitGuard) isMade(dir string) bool {
	if slices.Contains(g.dirs, dir) {
		return false
	}
	id, _, ok := g.at(dir)
	return !ok || g.made.has(id)
}

// stands reports whether something is at a place.
func (g *gitGuard) stands(place string) bool {
	_, _, ok := g.at(place)
	return ok
}

// emptyDir reports whether nothing is in a directory.
func (g *gitGuard) emptyDir(place string) bool {
	_, typ, ok := g.at(place)
	return ok && typ.IsDir() && len(g.list(place)) == 0
}
