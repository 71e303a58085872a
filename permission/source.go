package permission

import (
	"path"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

// Source is a document together with where each of its parts stands.
type Source struct {
	File     string // as given to Decode; preset:NAME for the built-in ones
	Document Document
	at       map[string]access.Position // by path: fs.write[0]
}

// name is the document's name, or else its file's.
func (s *Source) name() string {
	if s.Document.Name != "" {
		return s.Document.Name
	}
	base := path.Base(strings.ReplaceAll(s.File, `\`, "/"))
	return strings.TrimSuffix(base, path.Ext(base))
}

// position is where a part of the document stands, such as "fs.write[0]" or
// "tools.bash.enabled", or the nearest part around it.
func (s *Source) position(part string) access.Position { return positionAt(s.File, s.at, part) }

func positionAt(file string, at map[string]access.Position, part string) access.Position {
	for {
		if p, ok := at[part]; ok {
			return p
		}
		cut := strings.LastIndexAny(part, ".[")
		if cut < 0 {
			return access.Position{File: file}
		}
		part = part[:cut]
	}
}

// Decode reads and validates one document, YAML or JSON. file is what
// positions and messages call it; nothing is opened. What the schema does not
// know is refused; the error is a *DocumentError with every problem found.
func Decode(file string, data []byte) (*Source, error) {
	src, err := decodePartly(file, data)
	if err != nil {
		return nil, err
	}
	return src, nil
}

// decodePartly is Decode; beside its error it returns what could be read of a document
// that is refused, so that Examine finds what else is wrong with it.
func decodePartly(file string, data []byte) (*Source, error) {
	ps := &problems{file: file}
	src := &Source{File: file, at: map[string]access.Position{}}
	tree, ok := parse(ps, data)
	if !ok {
		return src, ps.err()
	}
	decodeDocument(ps, src, tree.root)
	if len(src.at) > 0 { // else it is no mapping, and that has been said
		validate(ps, src)
	}
	return src, ps.err()
}

// FromDocument validates a document that was built in Go. It has no lines;
// decisions name file and the rule's path.
func FromDocument(file string, doc Document) (*Source, error) {
	src := &Source{File: file, Document: doc}
	ps := &problems{file: file}
	validate(ps, src)
	if err := ps.err(); err != nil {
		return nil, err
	}
	return src, nil
}
