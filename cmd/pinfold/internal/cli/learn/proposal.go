package learn

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/learned"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// sayable reports whether a write path of the file can name a place: text, and nothing
// that a glob or a variable would be taken for.
func sayable(place string) bool {
	return utf8.ValidString(place) && !strings.ContainsFunc(place, func(r rune) bool { return r < ' ' || r == 0x7f }) &&
		!strings.ContainsAny(place, "*?[]{}\\$~") && strings.TrimSpace(place) == place
}

// proposal is what a .pinfold.yaml is made of.
type proposal struct {
	flags    *flags
	command  []string
	code     int
	full     bool
	writes   []learned.WritePath
	refusals []learned.Refused
}

func (p proposal) text() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("# What 'pinfold learn' saw of: %s", oneLine(cli.CommandText(p.command)))
	if p.code != 0 {
		say("# It ended with %d: what it would have done after that is not here.", p.code)
	}
	say("# What it opens counts after 'pinfold trust', and after a change of this file anew.")
	say("version: 1")
	say("run:")
	git := slices.DeleteFunc(slices.Clone(p.writes), func(w learned.WritePath) bool { return !inGit(w.Place) })
	writes := slices.DeleteFunc(slices.Clone(p.writes), func(w learned.WritePath) bool { return inGit(w.Place) })
	switch {
	case p.full:
		say("  # It changed more names than could be told apart: narrow this by hand.")
	case slices.ContainsFunc(writes, func(w learned.WritePath) bool { return w.Place == "." }):
		say("  # ALL of the project: files at its top were made under names that are gone, renamed")
		say("  # or removed, and only their directory lets that through. Narrow it if you can.")
	}
	if len(writes) == 0 {
		say("  write: []  # it wrote nothing")
	} else {
		say("  write:")
	}
	for _, w := range writes {
		say("    - %s  # %s", scalar(w.Place), why(w))
	}
	if len(git) > 0 {
		say("  git: true  # %s", why(git[0]))
	}
	if len(p.flags.ro) > 0 {
		say("  ro: %s  # as --ro said", flow(atHome(p.flags.ro)))
	}
	if len(p.flags.env) > 0 {
		say("  env: %s  # as --env said", flow(p.flags.env))
	}
	if p.flags.net == "none" {
		say("  net: none  # as --net said")
	}
	if len(p.refusals) > 0 {
		say("  # Refused, and so it stays:")
	}
	for _, r := range p.refusals {
		say("  #   %s %s (%s)", r.Op, oneLine(r.Place), r.Rule)
	}
	return b.String()
}

func inGit(place string) bool { return place == ".git" || strings.HasPrefix(place, ".git/") }

// why is the example of a write path in words.
func why(w learned.WritePath) string {
	c := w.Example
	did := map[access.Op]string{
		access.OpCreate: "made", access.OpWrite: "wrote", access.OpMeta: "changed the mode of", access.OpRename: "renamed",
		access.OpLink: "linked", access.OpDelete: "removed",
	}
	text := cmp.Or(did[c.Op], "changed") + " " + oneLine(c.Place)
	if c.To != "" {
		text += " to " + oneLine(c.To)
	}
	if w.Count > 1 {
		text += fmt.Sprintf(", and %d more", w.Count-1)
	}
	return text
}

// oneLine is text that cannot leave a comment.
func oneLine(text string) string {
	const most = 120
	text = pathresolver.EscapePath(text)
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "..."
	}
	return text
}

// plain are words that YAML takes for nothing else than text.
var plain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\.|[./~]*[A-Za-z_][A-Za-z0-9._/-]*)$`) })

// notText are words that YAML takes for something else than text.
var notText = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

func scalar(word string) string {
	if plain().MatchString(word) && !slices.Contains(notText, strings.ToLower(word)) {
		return word
	}
	text, _ := json.Marshal(word) // a string always can be
	return string(text)
}

func flow(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = scalar(word)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// atHome are paths as everybody who works in the project can have them.
func atHome(paths []string) []string {
	home, err := os.UserHomeDir()
	all := make([]string, len(paths))
	for i, p := range paths {
		if abs, err := filepath.Abs(p); err == nil {
			p = abs
		}
		all[i] = p
		if rest, in := hostpath.Beneath(p, home); err == nil && in && rest != "." {
			all[i] = "~/" + rest
		}
	}
	return all
}
