package pathresolver

import "strings"

// The kernel's own limits, in bytes. PATH_MAX counts the final NUL.
const (
	maxPath = 4095
	maxName = 255
)

// lexicalPlace reads a relative path that needs no link to be followed and
// holds no "..": then it is a place once the walk has met no link. "." and
// empty components are dropped, which changes nothing for such a walk. It
// does not allocate when there is nothing to drop.
func lexicalPlace(rel string) (place string, ok bool) {
	clean := true
	for i := 0; i <= len(rel); {
		j := i
		for j < len(rel) && rel[j] != '/' {
			j++
		}
		switch rel[i:j] {
		case "..":
			return "", false
		case "", ".":
			clean = false
		}
		i = j + 1
	}
	if clean {
		return rel, true
	}
	var kept []string
	for c := range strings.SplitSeq(rel, "/") {
		if c != "" && c != "." {
			kept = append(kept, c)
		}
	}
	if len(kept) == 0 {
		return ".", true
	}
	return strings.Join(kept, "/"), true
}

// joinPlace is the place of name in the directory at parent.
func joinPlace(parent, name string) string {
	if parent == "." {
		return name
	}
	return parent + "/" + name
}

// splitPlace is the inverse of joinPlace. The root has no parent: it gives
// "." and "".
func splitPlace(place string) (parent, name string) {
	if place == "." {
		return ".", ""
	}
	if i := strings.LastIndexByte(place, '/'); i >= 0 {
		return place[:i], place[i+1:]
	}
	return ".", place
}

// within reports whether place is dir or lies beneath it.
func within(place, dir string) bool {
	return dir == "." || place == dir ||
		len(place) > len(dir) && place[len(dir)] == '/' && place[:len(dir)] == dir
}

// splitLast splits a path at its last name, which it returns without trailing
// slashes; slash tells whether there were any. The parent of a lone name is
// ".".
func splitLast(rel string) (parent, name string, slash bool) {
	end := len(rel)
	for end > 0 && rel[end-1] == '/' {
		end--
	}
	slash = end < len(rel)
	start := strings.LastIndexByte(rel[:end], '/') + 1
	parent = rel[:start]
	if parent == "" {
		parent = "."
	}
	return parent, rel[start:end], slash
}
