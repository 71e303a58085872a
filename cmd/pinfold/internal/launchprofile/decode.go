package launchprofile

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/pinfold-dev/pinfold/internal/didyoumean"
)

// Decode reads the text of a profile strictly: an unknown key, a key twice or a value
// of another kind is an error that names the line and the key.
func Decode(name, file string, data []byte) (*Profile, error) {
	bad := func(n ast.Node, format string, args ...any) error {
		line := 1
		if n != nil && n.GetToken() != nil && n.GetToken().Position != nil {
			line = n.GetToken().Position.Line
		}
		return fmt.Errorf("%s:%d: %s", file, line, fmt.Sprintf(format, args...))
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		message, line := "cannot be read", 1
		var ye yaml.Error
		if errors.As(err, &ye) {
			message = ye.GetMessage()
			if t := ye.GetToken(); t != nil && t.Position != nil {
				line = t.Position.Line
			}
		}
		return nil, fmt.Errorf("%s:%d: this is not YAML: %s", file, line, message)
	}
	if len(tree.Docs) != 1 {
		return nil, bad(nil, "one document is wanted")
	}
	var entries []*ast.MappingValueNode
	switch body := tree.Docs[0].Body.(type) {
	case *ast.MappingNode:
		entries = body.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{body}
	default:
		return nil, bad(body, "a profile is a mapping: version, program, ...")
	}
	p := &Profile{}
	fields := keys(reflect.ValueOf(p).Elem())
	at := map[string]ast.Node{}
	for _, entry := range entries {
		key := entry.Key.String()
		field, known := fields[key]
		switch {
		case !known:
			return nil, bad(entry.Key, "unknown key %s: %s", key, didyoumean.Hint(key, sorted(fields)))
		case at[key] != nil:
			return nil, bad(entry.Key, "%s stands twice", key)
		case entry.Value.Type() == ast.NullType:
			return nil, bad(entry.Key, "%s is empty: leave it out, or write the empty value, [] or {}", key)
		}
		at[key] = entry.Value
		if err := decodeValue(entry.Value, field); err != nil {
			return nil, bad(entry.Value, "%s: %s", key, err)
		}
	}
	if p.Extends != "" {
		if !slices.Contains(Builtins(), p.Extends) {
			return nil, bad(at["extends"], "extends: %s is not built in: %s", p.Extends, didyoumean.Hint(p.Extends, Builtins()))
		}
		base, err := builtin(p.Extends)
		if err != nil {
			return nil, err
		}
		inherited := keys(reflect.ValueOf(base).Elem())
		for key, field := range fields {
			if at[key] == nil {
				field.Set(inherited[key])
			}
		}
	}
	for _, field := range fields { // an empty list is one, also in JSON
		switch {
		case field.Kind() == reflect.Slice && field.IsNil():
			field.Set(reflect.MakeSlice(field.Type(), 0, 0))
		case field.Kind() == reflect.Map && field.IsNil():
			field.Set(reflect.MakeMap(field.Type()))
		}
	}
	p.Name, p.File = name, file
	if key, err := p.check(); err != nil {
		return nil, bad(at[key], "%s: %s", key, err)
	}
	return p, nil
}

// keys are the fields of a profile by their keys.
func keys(v reflect.Value) map[string]reflect.Value {
	fields := map[string]reflect.Value{}
	for i := range v.NumField() {
		if key := v.Type().Field(i).Tag.Get("yaml"); key != "-" {
			fields[key] = v.Field(i)
		}
	}
	return fields
}

func sorted(fields map[string]reflect.Value) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// decodeValue decodes one of the four kinds of value that a profile has.
func decodeValue(n ast.Node, v reflect.Value) error {
	var want string
	switch v.Kind() {
	case reflect.Bool:
		if b, ok := n.(*ast.BoolNode); ok {
			v.SetBool(b.Value)
			return nil
		}
		want = "true or false"
	case reflect.Int:
		if _, ok := n.(*ast.IntegerNode); ok && yaml.NodeToValue(n, v.Addr().Interface()) == nil {
			return nil
		}
		want = "a number"
	case reflect.String:
		if s, ok := text(n); ok {
			v.SetString(s)
			return nil
		}
		want = "a string"
	case reflect.Slice:
		list, ok := n.(*ast.SequenceNode)
		words := []string{}
		if ok {
			for _, item := range list.Values {
				s, is := text(item)
				words, ok = append(words, s), ok && is
			}
		}
		if ok {
			v.Set(reflect.ValueOf(words))
			return nil
		}
		want = "a list of strings"
	case reflect.Map:
		words := map[string]string{}
		var entries []*ast.MappingValueNode
		ok := true
		switch m := n.(type) {
		case *ast.MappingNode:
			entries = m.Values
		case *ast.MappingValueNode:
			entries = []*ast.MappingValueNode{m}
		default:
			ok = false
		}
		for _, e := range entries {
			s, is := text(e.Value)
			words[strings.Trim(e.Key.String(), `"'`)], ok = s, ok && is
		}
		if ok {
			v.Set(reflect.ValueOf(words))
			return nil
		}
		want = "NAME: \"VALUE\", of strings"
	}
	return errors.New("want " + want)
}

// text is a node's string. A number or a boolean is not one.
func text(n ast.Node) (string, bool) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return s.Value.Value, true
	}
	return "", false
}

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// check refuses what cannot be meant, and names the key.
func (p *Profile) check() (key string, err error) {
	switch {
	case p.Version != 1:
		return "version", errors.New("this program reads version: 1")
	case !profileName().MatchString(p.Program):
		return "program", errors.New("want the name of a program, without a slash")
	case !profileName().MatchString(p.Home):
		return "home", errors.New("want a name for its kept home, without a slash")
	}
	for key, list := range map[string][]string{"look_in": p.LookIn, "layouts": p.Layouts, "show": p.Show} {
		for _, path := range list {
			if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "~/") || strings.Contains(path+"/", "/../") {
				return key, fmt.Errorf("'%s' begins neither with / nor with ~/, or leads up", path)
			}
		}
	}
	for key, files := range map[string]map[string]string{"tell_home": p.TellHome, "mcp_home": p.MCPHome} {
		for _, path := range mapKeys(files) {
			if !filepath.IsLocal(path) {
				return key, fmt.Errorf("'%s' is no path in its home", path)
			}
		}
	}
	for key, list := range map[string][]string{
		"env": p.Env, "set": mapKeys(p.Set), "set_as_root": mapKeys(p.SetAsRoot), "tell_set": mapKeys(p.TellSet), "mcp_set": mapKeys(p.MCPSet),
	} {
		for _, name := range list {
			if !variable().MatchString(name) {
				return key, fmt.Errorf("'%s' is not the name of a variable", name)
			}
		}
	}
	return "", nil
}

func mapKeys(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
