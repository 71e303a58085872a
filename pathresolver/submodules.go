package pathresolver

import (
	"strings"
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
