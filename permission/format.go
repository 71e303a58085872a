package permission

import (
	"cmp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pinfold-dev/pinfold/access"
)

// Format writes a document in its canonical form and keeps its comments: a comment on
// a line of its own stays above the entry that follows it, one at the end of a line
// stays with the entry that begins that line. `fs` stays on one line if it was on one
// and still fits. Formatting twice changes nothing more. A document that Decode
// refuses is refused.
func Format(file string, data []byte) ([]byte, error) {
	src, err := Decode(file, data)
	if err != nil {
		return nil, err
	}
	tree, _ := parse(&problems{file: file}, data)
	e := &emitter{above: map[string][]string{}, after: map[string]string{}, flow: flowKeys(tree.root)}

	type part struct {
		path string
		access.Position
	}
	parts := make([]part, 0, len(src.at))
	for path, at := range src.at {
		parts = append(parts, part{path, at})
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.path, b.path))
	})
	for _, c := range tree.comments {
		text := strings.TrimRight("#"+c.Value, " \t\r")
		line := c.Position.Line
		at, _ := slices.BinarySearchFunc(parts, line, func(p part, line int) int { return cmp.Compare(p.Line, line) })
		switch {
		case at == len(parts):
			e.above[""] = append(e.above[""], text)
		case parts[at].Line == line && parts[at].Column < c.Position.Column:
			e.after[parts[at].path] = text
		default:
			e.above[parts[at].path] = append(e.above[parts[at].path], text)
		}
	}
	e.mapping(src.Document.tree(), 0)
	e.comments("", 0) // what stood below everything
	return e.out.Bytes(), nil
}

// flowKeys are the keys at the top of a document whose mapping is written in
// braces.
func flowKeys(root ast.Node) map[string]bool {
	keys := map[string]bool{}
	m, _ := root.(*ast.MappingNode)
	if m == nil || m.IsFlowStyle { // a document in braces, such as JSON, has no style
		return keys
	}
	for _, v := range m.Values {
		if inner, ok := v.Value.(*ast.MappingNode); ok && inner.IsFlowStyle {
			keys[v.Key.String()] = true
		}
	}
	return keys
}
