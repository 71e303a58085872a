package sandboxfs

import (
	"slices"
	"sort"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// kind is what stands at a place when a view is arranged.
type kind uint8

const (
	kindMissing kind = iota // nothing, or nothing that can be mounted on
	kindDir
	kindFile
)

// arrange cuts the tree into mounts. Without a write path the whole is one
// read-only mount. Otherwise the whole is a read-only mount, over which each
// write path lies as a mount that can be written: most of what an agent does
// is reading, which a connection that is never written serves without being
// asked: a hot open takes some 25 times as long where the server is asked. A write
// path that does not exist yet is served by the mount at its nearest ancestor that
// does; where that is the root, by the only mount.
//
// A place where something may have to be asked for is served as a write path
// is: on the read-only mount the kernel does not ask for opens, and refuses
// writes as never possible. Where it is missing and may be made after asking,
// its directory is, if that is there; otherwise nothing is, since nobody in the
// view can make the place. Should the host make it later, it is refused on the
// read-only mount.
//
// A write path that is a regular file becomes a mount of its own whose root is
// that file: the directory that it lies in stays on the fast mount, and the
// mount keeps the file from being renamed away, as the rules want it.
//
// The result is in the order in which they are mounted. A place is covered by the
// mount with the longest prefix.
func arrange(writePaths []string, asks []resolved.AskPlace, single, reportAll bool, at func(place string) kind) []Mount {
	if reportAll || single && len(writePaths)+len(asks) > 0 {
		return []Mount{{Place: "."}}
	}
	parts := []Mount{{Place: ".", ReadOnly: true}}
	for _, wp := range writePaths {
		place, k := wp, at(wp)
		for k == kindMissing && place != "." {
			place = parentPlace(place)
			if k = at(place); k == kindFile {
				k = kindMissing // beneath a file nothing can be made
			}
		}
		parts = append(parts, Mount{Place: place, File: k == kindFile})
	}
	for _, ask := range asks {
		place, k := ask.Place, at(ask.Place)
		if k == kindMissing && ask.Makes {
			place = parentPlace(place)
			if k = at(place); k == kindFile {
				k = kindMissing
			}
		}
		if k != kindMissing {
			parts = append(parts, Mount{Place: place, File: k == kindFile})
		}
	}
	if slices.ContainsFunc(parts[1:], func(p Mount) bool { return p.Place == "." }) {
		return []Mount{{Place: "."}}
	}
	nested := parts[1:] // some names sort before "."
	sort.Slice(nested, func(i, j int) bool { return nested[i].Place < nested[j].Place })
	return dropNested(parts)
}

// dropNested removes the mounts that lie beneath another one that is written.
func dropNested(parts []Mount) []Mount {
	kept := parts[:1]
	for _, p := range parts[1:] {
		if !slices.ContainsFunc(kept[1:], func(q Mount) bool { return within(p.Place, q.Place) }) {
			kept = append(kept, p)
		}
	}
	return kept
}

// within reports whether place is dir or lies beneath it.
func within(place, dir string) bool {
	return dir == "." || place == dir || strings.HasPrefix(place, dir) && place[len(dir)] == '/'
}

// joinPlace is the place of name in dir.
func joinPlace(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// parentPlace is the place of the directory that holds place.
func parentPlace(place string) string {
	if i := strings.LastIndexByte(place, '/'); i >= 0 {
		return place[:i]
	}
	return "."
}
