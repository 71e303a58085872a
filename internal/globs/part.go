package globs

import (
	"strings"
	"unicode/utf8"
)

// Text is a name or a place.
type Text interface{ string | []byte }

// Kind is how a component is matched.
type Kind uint8

// The kinds of components, the cheaper first.
const (
	Literal  Kind = iota // itself
	Simple               // one "*" among plain characters
	General              // anything else
	AnyDepth             // "**"
)

// special are the characters that mean something in a component.
const special = `*?[{\`

// Few names that the braces of a short component stand for are quicker compared
// one by one than all at once.
const (
	fewNames  = 8
	shortPart = 256 // bytes
)

// Part is one component of a Glob.
type Part struct {
	text           string
	kind           Kind
	prefix, suffix string   // what each name that it matches begins and ends with
	names          []Part   // of General with braces that stand for few names: those, without braces
	program        *program // of other General
}

// ParsePart reads one component, which holds no "/". Several stars beside other
// characters are as one. The errors are those of Parse.
func ParsePart(text string) (Part, error) {
	switch {
	case len(text) > MaxBytes:
		return Part{}, errLong
	case text == "**":
		return Part{text: text, kind: AnyDepth}, nil
	case !balanced(text):
		return Part{}, errInvalid
	}
	p := newPart(text)
	if p.kind != General {
		return p, nil
	}
	c := compiler{text: text}
	stands, err := c.sequence(0)
	switch {
	case err != nil:
		return Part{}, err
	case !strings.Contains(text, "{"):
		p.program = c.done()
	case stands > fewNames || len(text) > shortPart:
		p.program = c.done()
		p.program.forks = true
	default:
		for _, t := range writtenOut(text, nil) {
			one := newPart(t)
			if one.kind == General {
				c := compiler{text: t}
				_, _ = c.sequence(0) // it has no braces, which alone may be too many
				one.program = c.done()
			}
			p.names = append(p.names, one)
		}
	}
	return p, nil
}

// newPart is a component whose program is not made yet.
func newPart(text string) Part {
	p := Part{text: text, kind: General}
	p.prefix, p.suffix = literalEnds(text)
	if !strings.ContainsAny(text, special) {
		p.kind = Literal
	} else if before, after, ok := strings.Cut(text, "*"); ok && !strings.ContainsAny(before+after, special) && utf8.ValidString(text) {
		p.kind, p.prefix, p.suffix = Simple, before, after
	}
	return p
}

// Text is the component as it was written.
func (p *Part) Text() string { return p.text }

// Kind says how the component is matched.
func (p *Part) Kind() Kind { return p.kind }

// Ends are what each name that the component matches begins and ends with. They
// may be shorter than they could be; those of "**" are empty.
func (p *Part) Ends() (prefix, suffix string) { return p.prefix, p.suffix }

func (p *Part) steps() int {
	n := 1
	if p.program != nil {
		n += len(p.program.ops)
	}
	for i := range p.names {
		n += p.names[i].steps()
	}
	return n
}

// Match reports whether a component matches a name. "**" matches every name.
func Match[T Text](p *Part, name T) bool {
	switch p.kind {
	case Literal:
		return string(name) == p.text
	case AnyDepth:
		return true
	}
	if len(name) < len(p.prefix) || string(name[:len(p.prefix)]) != p.prefix ||
		len(name) < len(p.suffix) || string(name[len(name)-len(p.suffix):]) != p.suffix {
		return false
	}
	if p.kind == Simple {
		return len(name) >= len(p.prefix)+len(p.suffix)
	}
	for i := range p.names {
		if Match(&p.names[i], name) {
			return true
		}
	}
	switch {
	case len(p.names) > 0:
		return false
	case p.program.forks:
		return run(p.program, name)
	}
	return glide(p.program, name)
}

// literalEnds are the plain characters that a component begins and ends with.
func literalEnds(text string) (prefix, suffix string) {
	const ends = special + "]},"
	i := strings.IndexAny(text, ends)
	if i < 0 {
		return text, text
	}
	return text[:i], text[strings.LastIndexAny(text, ends)+1:]
}

// balanced reports whether each brace and bracket is closed and each backslash
// is followed by something, as doublestar.ValidatePattern does.
func balanced(text string) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i == len(text) {
				return false
			}
		case '[':
			n := classLen(text[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// classLen is the length of the class that text begins with, 0 where it is
// empty or not closed.
func classLen(text string) int {
	i := 1
	if i < len(text) && (text[i] == '^' || text[i] == '!') {
		i++
	}
	if i < len(text) && text[i] == ']' {
		return 0
	}
	for ; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
	return 0
}
