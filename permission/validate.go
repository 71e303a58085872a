package permission

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/didyoumean"
)

// validator checks what types alone cannot say, of documents from files and of
// those built in Go alike.
type validator struct {
	ps  *problems
	src *Source
}

func validate(ps *problems, src *Source) {
	v := &validator{ps: ps, src: src}
	doc := &src.Document
	if doc.Version != 1 {
		v.bad("version", fmt.Sprintf("version %d is not known", doc.Version), "this program reads version: 1")
	}
	if doc.Name != "" {
		v.agentID("name", doc.Name)
	}
	v.plain("extends", doc.Extends)
	v.plain("description", doc.Description)
	v.word("bash_policy", string(doc.BashPolicy), BashPolicy("").words())
	for i, c := range doc.BashCommands {
		v.plain(fmt.Sprintf("bash_commands[%d]", i), c)
		if strings.TrimSpace(c) == "" || strings.ContainsAny(c, "(),\n") {
			v.bad(fmt.Sprintf("bash_commands[%d]", i), fmt.Sprintf("%q is no command", c), "write its first words, such as 'git add'")
		}
	}
	v.files(doc.FS)
	v.network(doc.Network)
	v.tools(doc.Tools)
	for _, a := range sorted(doc.Defaults) {
		v.word(join("defaults", string(a)), string(a), a.Words())
		v.word(join("defaults", string(a)), string(doc.Defaults[a]), access.Deny.Words())
	}
	for _, a := range sorted(doc.Targets) {
		path := join("targets", string(a))
		v.targets(path, doc.Targets[a])
		if !slices.Contains(targetActions, a) {
			v.bad(path, fmt.Sprintf("action '%s' has no target", a), didyoumean.Hint(string(a), actionWords(targetActions)))
		}
	}
	v.crossSend(doc.CrossSend)
	v.approvals(doc.Approvals)
	for _, role := range sorted(doc.Roles) {
		path := join("roles", role)
		v.agentID(path, role)
		v.plain(path, doc.Roles[role])
		if doc.Roles[role] == "" {
			v.bad(path, path+" is empty", "name a profile such as READ_ONLY")
		}
	}
}

func (v *validator) bad(path, message, hint string) { v.badCode("bad_value", path, message, hint) }

// badCode adds a problem, where decoding has not said already what is wrong.
func (v *validator) badCode(code, path, message, hint string) {
	if v.ps.told(path) {
		return
	}
	v.ps.add(Problem{Position: v.src.position(path), Code: code, Path: path, Message: message, Hint: hint})
}

// word checks a word of a closed list in a document that was built in Go;
// decoding has checked the others.
func (v *validator) word(path, s string, words []string) {
	if s != "" && !contains(words, s) {
		v.badCode("unknown_word", path, fmt.Sprintf("%s: unknown word %q", path, s), didyoumean.Hint(s, words))
	}
}

// plain refuses what cannot be written in a document or shown on a line.
func (v *validator) plain(path, s string) bool {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 && len(s) <= maxPath {
		return true
	}
	v.bad(path, path+" holds a NUL byte or invalid UTF-8, or is too long", "")
	return false
}

// agentID checks a name or an agent's id: [A-Za-z0-9._@+-]+, and not a word of the
// schema.
func (v *validator) agentID(path, id string) {
	if err := CheckID(id); err != nil {
		code, hint := "bad_value", ""
		if isReserved(id) {
			code = "reserved_word"
			if strings.HasSuffix(path, "]") {
				hint = fmt.Sprintf("write the word alone, without brackets: %s: %s", lastKey(path), id)
			}
		}
		v.badCode(code, path, fmt.Sprintf("%s: %s", path, err), hint)
	}
}

func lastKey(path string) string {
	path, _, _ = strings.Cut(path, "[")
	if action, ok := strings.CutPrefix(path, "targets."); ok {
		return action
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}

// CheckID says why a string cannot be an agent's id or a document's name; nil if it
// can.
func CheckID(id string) error {
	if isReserved(id) {
		return fmt.Errorf("'%s' is a reserved word and can be no agent's id", id)
	}
	if id == "" || len(id) > maxName || strings.ContainsFunc(id, func(r rune) bool { return !idRune(r) }) {
		return fmt.Errorf("%q is no id: want 1 to %d of letters, digits and . _ @ + -", id, maxName)
	}
	return nil
}

func idRune(r rune) bool {
	return r < utf8.RuneSelf && ('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._@+-", r))
}

func sorted[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func actionWords(actions []access.Action) []string {
	words := make([]string, len(actions))
	for i, a := range actions {
		words[i] = string(a)
	}
	return words
}
