package permission

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// Kind tells the two kinds of files that grant rights apart.
type Kind uint8

// The kinds of files.
const (
	PolicyFile Kind = iota + 1 // YAML or JSON
	AgentFile                  // Markdown with front matter
)

// Found is a file that Find found, or a directory that cannot be looked into.
type Found struct {
	Name string
	Kind Kind
	Err  error
}

// Find returns the policies and agent definitions in fsys that a pattern
// covers, sorted by name: what it matches, and of directories what is beneath.
// The pattern is a path or a doublestar glob, as in a policy. A file that is
// named without a wildcard is returned whatever it holds; of others those of
// the kinds that are asked for: *.yaml and *.yml, *.json where the pattern says
// so, and *.md that begin with front matter. Directories that links lead to,
// .git and node_modules are left out. A pattern that cannot be read finds
// nothing.
func Find(fsys fs.FS, glob string, kinds ...Kind) []Found {
	pat, err := parsePattern(glob, false)
	if err != nil {
		return nil
	}
	base := literalHead(pat)
	var list []Found
	_ = fs.WalkDir(fsys, base, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			if name != base || !errors.Is(err, fs.ErrNotExist) {
				list = append(list, Found{Name: name, Err: err})
			}
			return nil
		case name != base && d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || pat.Len() > 0 && !globs.Covers(pat.Glob, name):
			return nil
		}
		if !isFile(fsys, name, d) { // first of all: opening a FIFO waits
			return nil
		}
		kind := kindOf(fsys, name, glob)
		if pat.isPath() && name == base { // named outright
			kind = kinds[0]
		}
		if slices.Contains(kinds, kind) {
			list = append(list, Found{Name: name, Kind: kind})
		}
		return nil
	})
	return list
}

// literalHead is the directory in which a pattern begins to be one, or the path
// that it is.
func literalHead(pat pattern) string {
	return path.Clean(pattern{globs.Of(pat.Parts()[:pat.Literals()])}.String())
}

// isFile is true of regular files, of links to them, and of links that lead
// nowhere: reading those says what is wrong.
func isFile(fsys fs.FS, name string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.Type().IsRegular()
	}
	info, err := fs.Stat(fsys, name)
	return err != nil || info.Mode().IsRegular()
}

// kindOf is what a file seems to be, 0 for neither.
func kindOf(fsys fs.FS, name, glob string) Kind {
	switch path.Ext(name) {
	case ".yaml", ".yml":
		if path.Base(name) != ProjectFile {
			return PolicyFile
		}
	case ".json":
		if strings.HasSuffix(glob, ".json") {
			return PolicyFile
		}
	case ".md":
		begin, err := readAll(fsys, name, 2)
		if err != nil || string(begin) == "---" {
			return AgentFile
		}
	}
	return 0
}
