package permission

import (
	"fmt"

	"github.com/pinfold-dev/pinfold/access"
)

// rule is one statement of a document: what a decision names.
type rule struct {
	id    string // layer:path, such as worker-docs:fs.write[0]
	layer string
	text  string // the pattern or word, as written
	at    access.Position
}

// opinion is what one layer says about a request. The stricter is the greater.
type opinion uint8

const (
	silent  opinion = iota // the layer says nothing
	allowed                // allow
	asked                  // ask
	denied                 // deny
)

func opinionOf(e access.Effect) opinion {
	switch e {
	case access.Allow:
		return allowed
	case access.Ask:
		return asked
	case "":
		return silent
	}
	return denied
}

func (o opinion) effect() access.Effect {
	switch o {
	case allowed:
		return access.Allow
	case asked:
		return access.Ask
	}
	return access.Deny
}

// finding is an opinion with its cause.
type finding struct {
	opinion
	code access.Code
	rule *rule
	acl  *sendACL // where a send ACL decided
	hit  string   // the pattern of it that did
}

// statement is a fixed opinion that a document states in one place.
type statement struct {
	opinion
	rule *rule
}

// stricter returns the stricter of two findings, the later one where they are
// equal: a child's own rule says more than what it inherits.
func stricter(a, b finding) finding {
	if b.opinion >= a.opinion && b.opinion != silent {
		return b
	}
	return a
}

// newRule names the part of a document at path.
func (l *layer) newRule(path, text string) *rule {
	return &rule{id: l.name + ":" + path, layer: l.name, text: text, at: l.src.position(path)}
}

// patterns compiles a list of a document; nil for an absent one.
func (l *layer) patterns(path string, list []string, folded bool) *patternSet {
	if list == nil {
		return nil
	}
	patterns, rules := make([]pattern, 0, len(list)), make([]*rule, 0, len(list))
	for i, text := range list {
		p, err := parsePattern(text, folded)
		if err != nil {
			continue // validate has refused it
		}
		patterns = append(patterns, p)
		rules = append(rules, l.newRule(fmt.Sprintf("%s[%d]", path, i), text))
	}
	return newPatternSet(patterns, rules)
}
