package mask

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Bounds of YAML that is masked: the parser that confirms what was read here takes more
// time and stack than the others.
const (
	maxYAML   = 128 << 10 // bytes
	maxIndent = 200       // columns
)

// yaml reads block mappings and sequences of scalars in one line, block scalars, and what
// is valid JSON. Anchors, aliases, tags, and strings in quotes over several lines are
// refused. What is shown as keys has to be what a parser takes for keys.
func (m *masker) yaml() error {
	if len(m.in) > maxYAML {
		return &UnclearError{Reason: "it is YAML of more than 131072 bytes"}
	}
	if err := m.printable(); err != nil {
		return err
	}
	y := yamlFile{masker: m, block: -1}
	if err := m.lines(y.line); err != nil {
		return err
	}
	if keys, ok := yamlKeys(m.in); !ok || !slices.Equal(keys, y.keys) {
		return &UnclearError{Reason: "a YAML parser reads other keys, or none"}
	}
	return nil
}

// yamlFile is a file of YAML on its way.
type yamlFile struct {
	*masker
	keys   []string // that are shown
	block  int      // the column that a block scalar has to be indented beyond; -1: none
	indent int      // of its lines; 0 until the first
}

func (y *yamlFile) line(start, end int) error {
	i := start
	for i < end && y.in[i] == ' ' {
		i++
	}
	at := i - start
	if y.block >= 0 {
		switch {
		case i == end:
			return nil
		case at > y.block:
			if y.indent == 0 {
				y.indent = at
			}
			y.value(start+min(at, y.indent), end)
			return nil
		}
		y.block = -1
	}
	end = y.trimmed(i, end)
	switch {
	case i == end:
		return nil
	case at > maxIndent:
		return y.unclear(i, "more than 200 columns of indentation")
	case y.in[i] == '#':
		y.value(i+1, end)
		return nil
	case at == 0 && (string(y.in[i:min(i+3, end)]) == "---" || string(y.in[i:min(i+3, end)]) == "..."):
		return y.tail(i+3, end, "#")
	}
	for y.in[i] == '-' && (i+1 == end || y.in[i+1] == ' ') {
		at = i - start
		if at > maxIndent {
			return y.unclear(i, "more than 200 columns of indentation")
		}
		if i = y.blanks(i+1, end); i == end {
			return nil
		}
	}
	if name, behind, ok := y.keyAt(i, end); ok {
		at = i - start
		y.keys = append(y.keys, name)
		if i = y.blanks(behind, end); i == end {
			return nil
		}
	}
	return y.scalar(i, end, at)
}

// keyAt reads a key, and the colon behind it.
func (y *yamlFile) keyAt(i, end int) (name string, behind int, ok bool) {
	var stop int
	if q := y.in[i]; q == '"' || q == '\'' {
		n := bytes.IndexByte(y.in[i+1:end], q)
		if n < 0 || bytes.IndexByte(y.in[i+1:i+1+n], '\\') >= 0 {
			return "", 0, false
		}
		name, stop = string(y.in[i+1:i+1+n]), i+n+2
	} else {
		stop = y.run(i, end, func(b byte) bool { return isName(b) || b == '/' || b == '$' })
		name = string(y.in[i:stop])
	}
	if name == "" || stop == end || y.in[stop] != ':' || stop+1 < end && y.in[stop+1] != ' ' {
		return "", 0, false
	}
	return name, stop + 1, true
}

// scalar masks a value. at is the column of what it belongs to.
func (y *yamlFile) scalar(i, end, at int) error {
	switch b := y.in[i]; b {
	case '#':
		y.value(i+1, end)
		return nil
	case '|', '>':
		j := y.run(i+1, end, func(b byte) bool { return b == '-' || b == '+' })
		y.block, y.indent = at, 0
		return y.tail(j, end, "#")
	case '"', '\'':
		for k := i + 1; k < end; k++ {
			switch {
			case y.in[k] == '\\' && b == '"':
				k++
			case y.in[k] == b && b == '\'' && k+1 < end && y.in[k+1] == b:
				k++
			case y.in[k] == b:
				if k+1 < end && y.in[k+1] != ' ' && y.in[k+1] != '\t' {
					return y.unclear(k, "something behind a quote")
				}
				y.value(i+1, k)
				return y.tail(k+1, end, "#")
			}
		}
		return y.unclear(i, "a quote that is not closed in its line")
	case '[', '{':
		if deep(y.in[i:end]) {
			return y.unclear(i, "brackets within brackets, too deep")
		}
		return y.jsonPart(i, end, func(name string) { y.keys = append(y.keys, name) })
	}
	if strings.IndexByte("-?:,]}&*!%@`", y.in[i]) >= 0 && !json.Valid(y.in[i:end]) {
		return y.unclear(i, "a sign of YAML that is not read here")
	}
	stop := end
	for k := i + 1; k < end; k++ {
		if y.in[k] == '#' && (y.in[k-1] == ' ' || y.in[k-1] == '\t') {
			y.value(k+1, end)
			stop = y.trimmed(i, k)
			break
		}
	}
	y.literal(i, stop)
	return nil
}

// literal masks a value without quotes that may be one of JSON's.
func (m *masker) literal(i, j int) {
	switch text := string(m.in[i:j]); {
	case text == "true", text == "false", text == "null":
	case json.Valid(m.in[i:j]) && (text[0] == '-' || isDigit(text[0])):
		m.number(i, j)
	default:
		m.value(i, j)
	}
}

// deep reports whether there are more brackets than may stand within one another.
func deep(text []byte) bool {
	return bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxIndent
}

// yamlKeys are the keys of a file as a parser reads them; not ok where it reads none of it.
func yamlKeys(data []byte) (keys []string, ok bool) {
	defer func() {
		if recover() != nil { // what the parser does not bear is not shown
			keys, ok = nil, false
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, false
	}
	var walk keyWalk
	for _, doc := range file.Docs {
		if doc.Body != nil {
			ast.Walk(&walk, doc.Body)
		}
	}
	return walk.keys, true
}

type keyWalk struct{ keys []string }

// Visit notes the key of each entry of a mapping.
func (w *keyWalk) Visit(n ast.Node) ast.Visitor {
	if entry, ok := n.(*ast.MappingValueNode); ok {
		w.keys = append(w.keys, entry.Key.GetToken().Value)
	}
	return w
}
