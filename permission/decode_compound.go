package permission

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pinfold-dev/pinfold/internal/didyoumean"
)

func contains(words []string, s string) bool { return slices.Contains(words, s) }

// entry is one key of a mapping.
type entry struct {
	key   string
	node  ast.Node // of the key
	value ast.Node
}

// entries returns the keys of a mapping in their order, each once.
func (d *decoder) entries(path string, n ast.Node) ([]entry, bool) {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		d.wrongType(path, n, "a mapping")
		return nil, false
	}
	var list []entry
	lines := map[string]int{}
	for _, v := range values {
		if d.ps.full() {
			return nil, false
		}
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			d.problem(v.Key, "wrong_type", path, "a key must be a plain word", "quote it")
			continue
		}
		where := positionOf(d.ps.file, key)
		if first, twice := lines[key.Value]; twice {
			d.problem(key, "duplicate_key", join(path, key.Value), fmt.Sprintf("key '%s' is given twice", key.Value), fmt.Sprintf("it stands in line %d already", first))
			continue
		}
		lines[key.Value] = where.Line
		d.at[join(path, key.Value)] = where
		list = append(list, entry{key: key.Value, node: key, value: v.Value})
	}
	return list, true
}

// structure decodes a mapping whose keys the schema names.
func (d *decoder) structure(path string, n ast.Node, v reflect.Value) {
	fields := fieldsOf(v.Type())
	keys := keysOf(fields)
	if i := slices.Index(keys, "enabled"); i >= 0 {
		v.Field(i).SetBool(true) // a tool that is spelled out is enabled
	}
	list, ok := d.entries(path, n)
	if !ok {
		return
	}
	seen := map[string]bool{}
	for _, e := range list {
		if d.ps.full() {
			return
		}
		i := slices.Index(keys, e.key)
		if i < 0 {
			where := "in " + path
			if path == "" {
				where = "at the top of a document"
			}
			d.problem(e.node, "unknown_key", join(path, e.key), fmt.Sprintf("unknown key '%s' %s", e.key, where), didyoumean.Hint(e.key, keys))
			continue
		}
		seen[e.key] = true
		d.value(join(path, e.key), e.value, v.Field(fields[i].index))
	}
	for _, f := range fields {
		if f.required && !seen[f.key] {
			hint := ""
			if f.key == "version" {
				hint = "begin with 'version: 1'"
			}
			d.problem(n, "missing_key", join(path, f.key), fmt.Sprintf("key '%s' is missing", join(path, f.key)), hint)
		}
	}
}

// mapping decodes a mapping whose keys are names, or words of a closed list.
func (d *decoder) mapping(path string, n ast.Node, v reflect.Value) {
	list, ok := d.entries(path, n)
	if !ok {
		return
	}
	words := wordsOf(v.Type().Key())
	v.Set(reflect.MakeMap(v.Type()))
	for _, e := range list {
		if d.ps.full() {
			return
		}
		if words != nil && !contains(words, e.key) {
			d.problem(e.node, "unknown_word", join(path, e.key), fmt.Sprintf("%s: unknown action '%s'", path, e.key), didyoumean.Hint(e.key, words))
			continue
		}
		value := reflect.New(v.Type().Elem()).Elem()
		d.value(join(path, e.key), e.value, value)
		v.SetMapIndex(reflect.ValueOf(e.key).Convert(v.Type().Key()), value)
	}
}

// list decodes a list of strings. An empty one stays apart from an absent one.
func (d *decoder) list(path string, n ast.Node, v reflect.Value) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		d.wrongType(path, n, "a list")
		return
	}
	items := make([]string, 0, len(seq.Values))
	for i, item := range seq.Values {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.at[at] = positionOf(d.ps.file, item)
		s, is := withPort(item)
		if !is {
			s, _ = d.text(at, item) // one of another type is an empty string, so that the others keep their index
		}
		items = append(items, s)
	}
	v.Set(reflect.ValueOf(items))
}

// withPort is a string such as example.com:443, which the parser takes for a mapping where
// it stands in brackets.
func withPort(n ast.Node) (string, bool) {
	var pair *ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingValueNode:
		pair = m
	case *ast.MappingNode:
		if m.IsFlowStyle || len(m.Values) != 1 {
			return "", false
		}
		pair = m.Values[0]
	default:
		return "", false
	}
	key, value := pair.Key.GetToken(), pair.Value.GetToken()
	if _, is := pair.Value.(*ast.IntegerNode); !is || key == nil || key.Value != key.Origin && key.Value != strings.TrimSpace(key.Origin) ||
		value.Position.Line != key.Position.Line || value.Position.Column != key.Position.Column+len(key.Value)+1 {
		return "", false
	}
	return key.Value + ":" + value.Value, true
}

// targets decodes a word such as "parent", or a list of agent ids.
func (d *decoder) targets(path string, n ast.Node, v reflect.Value) {
	if _, isList := n.(*ast.SequenceNode); isList {
		d.list(path, n, v.FieldByName("IDs"))
		return
	}
	s, ok := n.(*ast.StringNode)
	if !ok {
		d.wrongType(path, n, "a word ("+listText(reservedWords)+") or a list of agent ids")
		return
	}
	if !contains(reservedWords, s.Value) {
		hint := didyoumean.Hint(s.Value, reservedWords)
		if didyoumean.Word(s.Value, reservedWords) == "" {
			hint += fmt.Sprintf("; one agent is [%s]", s.Value)
		}
		d.problem(n, "unknown_word", path, fmt.Sprintf("%s: unknown restriction %q", path, s.Value), hint)
		return
	}
	v.FieldByName("Word").SetString(s.Value)
}

// network decodes true, false, or a mapping that names hosts.
func (d *decoder) network(path string, n ast.Node, v reflect.Value) {
	switch b := n.(type) {
	case *ast.BoolNode:
		mode := NetworkNone
		if b.Value {
			mode = NetworkHost
		}
		v.Set(reflect.ValueOf(Network{Mode: mode}))
	case *ast.MappingNode, *ast.MappingValueNode:
		d.structure(path, n, v)
	default:
		d.wrongType(path, n, "true, false, or a mapping such as {mode: allow, allow: [example.com]}")
	}
}
