package permission

import (
	"embed"
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/internal/didyoumean"
)

// The presets and profiles are documents like any other.
//
//go:embed builtin/*.yaml
var builtinFS embed.FS

// builtinPrefix begins the file name of a built-in document.
const builtinPrefix = "preset:"

// Builtins returns the names of the presets and profiles, the default first.
func Builtins() []string {
	return []string{"sandboxed", "worker", "trusted", "yolo", "READ_ONLY", "WRITE", "VERIFICATION", "DESIGN"}
}

// isBuiltin reports whether a document is one of those, whatever its file is
// called.
func isBuiltin(s *Source) bool {
	own, ok := decoded.Load(strings.TrimPrefix(s.File, builtinPrefix))
	return ok && own.(*Source) == s
}

// builtin returns a preset or profile; nil if there is none of that name.
func builtin(name string) (*Source, error) {
	if !contains(Builtins(), name) {
		return nil, nil
	}
	return decodeBuiltin(name)
}

var decoded sync.Map // by name, of *Source

func decodeBuiltin(name string) (*Source, error) {
	if s, ok := decoded.Load(name); ok {
		return s.(*Source), nil
	}
	data, err := BuiltinText(name)
	if err != nil {
		return nil, err
	}
	s, err := Decode(builtinPrefix+name, data)
	if err != nil {
		return nil, err
	}
	first, _ := decoded.LoadOrStore(name, s)
	return first.(*Source), nil
}

// BuiltinText returns the YAML of a preset or profile, with its comments.
func BuiltinText(name string) ([]byte, error) {
	return builtinFS.ReadFile("builtin/" + name + ".yaml")
}

// Preset compiles a preset or profile by its name.
func Preset(name string, opt Options) (*Policy, error) {
	src, err := builtin(name)
	if err != nil {
		return nil, err
	}
	if src == nil {
		return nil, errors.New("unknown preset '" + name + "': " + didyoumean.Hint(name, Builtins()))
	}
	return Compile(src, opt)
}

// read decodes one document from fsys, reading no more than a document may
// have.
func read(fsys fs.FS, name string) (*Source, error) {
	data, err := readAll(fsys, name, maxDocument)
	if err != nil {
		return nil, err
	}
	return Decode(path.Clean(name), data)
}

// reason is the system's own words, without the path.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
