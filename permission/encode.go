package permission

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"
)

// lineWidth is how long a line may become before a list or mapping is written
// one entry a line.
const lineWidth = 80

// Encode writes a document in its canonical form, which Decode reads back as
// an equal document.
func Encode(d Document) []byte {
	e := &emitter{}
	e.mapping(d.tree(), 0)
	return e.out.Bytes()
}

// emitter writes YAML, with the comments that Format has found.
type emitter struct {
	out   bytes.Buffer
	above map[string][]string // comment lines before an entry, by its path
	after map[string]string   // the comment that ends an entry's line
	flow  map[string]bool     // keys whose mapping may stand on one line
}

func (e *emitter) comments(path string, indent int) {
	for _, c := range e.above[path] {
		e.out.WriteString(strings.Repeat(" ", indent) + c + "\n")
	}
}

// mapping writes the entries of a mapping, each on lines of its own.
func (e *emitter) mapping(n node, indent int) {
	for _, c := range n.items {
		e.comments(c.path, indent)
		e.out.WriteString(strings.Repeat(" ", indent) + yamlString(c.key) + ":")
		e.value(c.node, indent, len(yamlString(c.key))+1)
	}
}

// value writes what follows a key, and ends the line.
func (e *emitter) value(n node, indent, used int) {
	end := "\n"
	if c := e.after[n.path]; c != "" {
		end = " " + c + "\n"
	}
	if line := inline(n); e.fits(n, indent+used+1+len(line)) {
		e.out.WriteString(" " + line + end)
		return
	}
	e.out.WriteString(end)
	if !n.list {
		e.mapping(n, indent+2)
		return
	}
	for _, item := range n.items {
		e.comments(item.path, indent+2)
		e.out.WriteString(strings.Repeat(" ", indent+2) + "-")
		e.value(item.node, indent+2, 2)
	}
}

// fits reports whether a value goes on its key's line: it is short, has no
// mapping within, and no comment belongs to a part of it.
func (e *emitter) fits(n node, width int) bool {
	if n.scalar != nil || len(n.items) == 0 {
		return true
	}
	if n.block && !e.flow[n.path] || width > lineWidth {
		return false
	}
	for _, c := range n.items {
		if c.scalar == nil && (!c.list || n.list) || e.commented(c.node) {
			return false
		}
	}
	return true
}

func (e *emitter) commented(n node) bool {
	if len(e.above[n.path]) > 0 || e.after[n.path] != "" {
		return true
	}
	for _, c := range n.items {
		if e.commented(c.node) {
			return true
		}
	}
	return false
}

// inline is a value in flow style.
func inline(n node) string {
	if n.scalar != nil {
		return scalarText(n.scalar)
	}
	parts := make([]string, len(n.items))
	for i, c := range n.items {
		parts[i] = inline(c.node)
		if !n.list {
			parts[i] = yamlString(c.key) + ": " + parts[i]
		}
	}
	if n.list {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func scalarText(v any) string {
	if s, ok := v.(string); ok {
		return yamlString(s)
	}
	return jsonText(v)
}

// yamlString is a string as YAML: plain where no reader could take it for
// anything else, quoted as in JSON otherwise.
func yamlString(s string) string {
	plain := s != "" && !numberLike(s) && !contains(oldWords, strings.ToLower(s)) && (isName(s) || !token.IsNeedQuoted(s))
	for i, r := range s {
		inner := i > 0 && i < len(s)-1 && (r == ' ' || r == '-' || r == '+')
		plain = plain && r < utf8.RuneSelf && (idRune(r) && r != '@' && (r != '-' && r != '+' || inner) || r == '/' || inner)
	}
	if plain {
		return s
	}
	return jsonText(s)
}

// isName is true of letters, digits and _ after a letter, which mean themselves
// wherever they are no word of YAML's. Most strings are of that kind, and asking
// further is slow.
func isName(s string) bool {
	for i, r := range s {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r != '_' && (r < '0' || r > '9')) {
			return false
		}
	}
	return true
}

// numberLike is true of all that some reader could take for a number or a date.
func numberLike(s string) bool {
	return '0' <= s[0] && s[0] <= '9' || s[0] == '.' && len(s) > 1 && '0' <= s[1] && s[1] <= '9'
}

// oldWords are what readers of YAML 1.1 take for a boolean or null.
var oldWords = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", ".inf", ".nan"}

func jsonText(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return `""` // strings, booleans and numbers always encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}
