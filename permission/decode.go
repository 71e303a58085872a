package permission

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/didyoumean"
)

// decoder fills a Document from a syntax tree, strictly: a key that the schema
// does not have, a key twice, a value of another type or a word outside a
// closed list is a problem with its position.
type decoder struct {
	ps *problems
	at map[string]access.Position
}

func decodeDocument(ps *problems, src *Source, root ast.Node) {
	decodeInto(ps, src.at, root, reflect.ValueOf(&src.Document).Elem())
}

// decodeInto fills a struct of a schema, and at with where its parts stand.
func decodeInto(ps *problems, at map[string]access.Position, root ast.Node, v reflect.Value) {
	d := &decoder{ps: ps, at: at}
	if root == nil {
		ps.add(Problem{Position: access.Position{Line: 1, Column: 1}, Code: "missing_key", Message: "the document is empty", Hint: "begin with 'version: 1'"})
		return
	}
	d.value("", root, v)
}

func (d *decoder) problem(n ast.Node, code, path, message, hint string) {
	d.ps.add(Problem{Position: positionOf(d.ps.file, n), Code: code, Path: path, Message: message, Hint: hint})
}

// positionOf is where a node begins. A mapping's own token is its first colon.
func positionOf(file string, n ast.Node) access.Position {
	switch m := n.(type) {
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			n = m.Values[0].Key
		}
	case *ast.MappingValueNode:
		n = m.Key
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return access.Position{File: file, Line: t.Position.Line, Column: t.Position.Column}
	}
	return access.Position{File: file, Line: 1, Column: 1}
}

// value decodes one node into v.
func (d *decoder) value(path string, n ast.Node, v reflect.Value) {
	switch {
	case v.Type() == targetsType:
		d.targets(path, n, v)
	case v.Type() == durationType:
		if s, ok := d.text(path, n); ok {
			t, err := parseDuration(s)
			if err != nil {
				d.problem(n, "bad_value", path, fmt.Sprintf("%s: %q is no time", path, s), err.Error())
			}
			v.Set(reflect.ValueOf(t))
		}
	case v.Type() == networkType:
		d.network(path, n, v)
	case v.Kind() == reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		d.value(path, n, fresh.Elem())
		v.Set(fresh)
	case v.Kind() == reflect.Struct:
		d.structure(path, n, v)
	case v.Kind() == reflect.Map:
		d.mapping(path, n, v)
	case v.Kind() == reflect.Slice:
		d.list(path, n, v)
	case v.Kind() == reflect.Bool:
		if b, ok := n.(*ast.BoolNode); ok {
			v.SetBool(b.Value)
		} else {
			d.wrongType(path, n, "true or false")
		}
	case v.Kind() == reflect.Float64:
		if f, ok := n.(*ast.FloatNode); ok {
			v.SetFloat(f.Value)
		} else if i, ok := integer(n); ok {
			v.SetFloat(float64(i))
		} else {
			d.wrongType(path, n, "a number")
		}
	case v.Kind() == reflect.Int:
		if i, ok := integer(n); ok {
			v.SetInt(i)
		} else {
			d.wrongType(path, n, "a whole number")
		}
	default:
		d.word(path, n, v)
	}
}

// word decodes a string, or a word of a closed list.
func (d *decoder) word(path string, n ast.Node, v reflect.Value) {
	s, ok := d.text(path, n)
	if !ok {
		return
	}
	if words := wordsOf(v.Type()); words != nil && !contains(words, s) {
		d.problem(n, "unknown_word", path, fmt.Sprintf("%s: unknown word %q", path, s), didyoumean.Hint(s, words))
		return
	}
	if s == "" {
		d.problem(n, "bad_value", path, path+" is empty", "leave the key out instead")
		return
	}
	v.SetString(s)
}

// text is the node's string. A number or a boolean is not one.
func (d *decoder) text(path string, n ast.Node) (string, bool) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return s.Value.Value, true
	}
	d.wrongType(path, n, "a string")
	return "", false
}

func (d *decoder) wrongType(path string, n ast.Node, want string) {
	if path == "" {
		path = "the document"
	}
	hint := ""
	if t := n.GetToken(); want == "a string" && t != nil && n.Type() != ast.NullType && n.Type() != ast.MappingType && n.Type() != ast.SequenceType {
		hint = fmt.Sprintf("quote it: %q", t.Value)
	}
	if n.Type() == ast.NullType {
		hint = "leave the key out to inherit, or write the empty value: [] or {}"
	}
	d.problem(n, "wrong_type", path, fmt.Sprintf("%s is %s; want %s", path, kindText(n), want), hint)
}

func kindText(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "a string"
	case *ast.BoolNode:
		return "a boolean"
	case *ast.NullNode:
		return "empty (null)"
	}
	return "a " + strings.ToLower(n.Type().String())
}

func integer(n ast.Node) (int64, bool) {
	i, ok := n.(*ast.IntegerNode)
	if !ok {
		return 0, false
	}
	switch v := i.Value.(type) {
	case int64:
		return v, true
	case uint64:
		return int64(v), v <= 1<<31
	}
	return 0, false
}
