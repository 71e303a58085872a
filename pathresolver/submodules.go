package pathresolver

import (
	"os"
	"strings"
	"syscall"
)

// maxModules bounds the size of a .gitmodules file that is read, in bytes.
const maxModules = 1 << 20

// submodulePaths reads the places of submodules out of a .gitmodules file,
// which has git's configuration syntax. git outside recurses into them, and
// runs what their configuration says (core.fsmonitor), so their .git is
// guarded like the project's own. A line that cannot be read names nothing.
func submodulePaths(text string) []string {
	var places []string
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || !strings.EqualFold(strings.TrimSpace(key), "path") {
			continue
		}
		value = strings.TrimSpace(value)
		if v, ok := strings.CutPrefix(value, `"`); ok {
			value = unquote(v)
		}
		if place, ok := lexicalPlace(value); ok && place != "." && !strings.HasPrefix(value, "/") {
			places = append(places, place)
		}
	}
	return places
}

// unquote reads a quoted value up to its closing quote.
func unquote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s) && s[i] != '"'; i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// guardSubmodules protects the .git of each submodule: whole where it is a
// file or missing, and what runs code in it where it is a directory.
func guardSubmodules(text string, isDir func(place string) bool) []glob {
	var globs []glob
	add := func(place string) {
		if g, err := compileGlob(escapeGlob(place)); err == nil {
			g.text = place
			globs = append(globs, g)
		}
	}
	for _, at := range submodulePaths(text) {
		git := at + "/.git"
		if !isDir(git) {
			add(git)
			continue
		}
		for _, name := range DefaultProtected() {
			if rest, ok := strings.CutPrefix(name, ".git/"); ok {
				if g, err := compileGlob(escapeGlob(git) + "/" + rest); err == nil {
					globs = append(globs, g)
				}
			}
		}
	}
	return globs
}

// escapeGlob makes a glob that matches s and nothing else.
func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(s)
}

// submodules are the rules for the submodules that the project has now.
func (r *Resolver) submodules() []glob {
	fd, err := r.openPlace(".gitmodules", os.O_RDONLY|always, 0)
	if err != nil {
		return nil // none, or a link, which git does not follow either
	}
	defer closeHandle(fd)
	text, err := readUpTo(fd, maxModules)
	if err != nil {
		return nil
	}
	return guardSubmodules(string(text), func(place string) bool {
		fd, err := r.openPlace(place, oPath|oNoFollow|oDirectory, 0)
		if err != nil {
			return false
		}
		closePath(fd)
		return true
	})
}

// guardGit looks at .git: where it is a file it points at a repository
// elsewhere, and is protected like the rest of what decides where git goes.
func (r *Resolver) guardGit(f *findings, wanted bool) {
	fd, err := r.openPlace(".git", oPath|oNoFollow, 0)
	if err != nil {
		if wanted && err == syscall.ENOENT {
			f.add(Violation{Code: codeGitMissing, Severity: SeverityWarning, Field: "git", Value: ".git",
				Message: "there is no .git beneath the sandbox root"})
		}
		return
	}
	defer closeHandle(fd)
	id, err := identify(fd)
	if err != nil || id.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		return
	}
	if wanted {
		f.add(Violation{Code: CodeGitOutside, Field: "git", Value: ".git",
			Message: "'.git' is a file or a link: the repository lies elsewhere",
			Hint:    "run from the main work tree, or without --git; 'pinfold run --git' opens as much of it as the checkout needs"})
		return
	}
	g, err := compileGlob(".git")
	if err != nil {
		panic("pathresolver: bug: .git is not a glob: " + err.Error())
	}
	r.addProtected(g)
}
