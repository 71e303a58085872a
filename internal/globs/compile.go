package globs

// program is the automaton that a component is: instructions, of which each
// leads to the next; those of an alternative lead past the others.
type program struct {
	ops     []op
	classes []chars
	forks   bool // there are alternatives
}

type op struct {
	kind opKind
	char rune  // of one
	to   int32 // of split and jump: a later instruction; of class: which
}

type opKind uint8

const (
	one   opKind = iota // one certain character
	any1                // any one character
	class               // one character of a class
	many                // any number of characters
	split               // goes on at the next instruction and at another
	jump                // goes on at another instruction
	done                // the component matches
)

// chars is a class of characters.
type chars struct {
	negate bool
	ranges []between
}

// between are the characters from lo to hi.
type between struct{ lo, hi rune }

func (c *chars) holds(char rune) bool {
	for _, b := range c.ranges {
		if b.lo <= char && char <= b.hi {
			return !c.negate
		}
	}
	return c.negate
}

// compiler turns a balanced component into instructions, of which there are at
// most a few more than its bytes.
type compiler struct {
	text string
	at   int
	program
}

// done is the program of what was read.
func (c *compiler) done() *program {
	c.add(op{kind: done})
	return &c.program
}

func (c *compiler) add(o op) { c.ops = append(c.ops, o) }

// sequence reads up to the end, or within braces up to the comma or brace that
// ends an alternative. stands is the number of names without braces that it
// stands for.
func (c *compiler) sequence(depth int) (stands int, err error) {
	if stands = 1; depth == 0 {
		c.ops = make([]op, 0, len(c.text)+1)
	}
	for c.at < len(c.text) {
		switch b := c.text[c.at]; {
		case b == '*':
			c.at++
			c.add(op{kind: many})
		case b == '?':
			c.at++
			c.add(op{kind: any1})
		case b == '[':
			c.class()
		case b == '{':
			n, err := c.braces(depth + 1)
			if err != nil {
				return 0, err
			}
			if stands *= n; stands > MaxAlternatives {
				return 0, errBraces
			}
		case depth > 0 && (b == ',' || b == '}'):
			return stands, nil
		default:
			c.add(op{kind: one, char: c.char()})
		}
	}
	return stands, nil
}

// braces reads alternatives.
func (c *compiler) braces(depth int) (stands int, err error) {
	if depth > MaxNesting {
		return 0, errNesting
	}
	var ends []int // the jumps behind all of them
	for more := true; more; {
		c.at++ // the brace or comma before it
		fork := len(c.ops)
		c.add(op{kind: split})
		n, err := c.sequence(depth)
		if err != nil {
			return 0, err
		}
		if stands += n; stands > MaxAlternatives {
			return 0, errBraces
		}
		ends = append(ends, len(c.ops))
		c.add(op{kind: jump})
		more = c.text[c.at] == ','
		c.ops[fork].to = int32(len(c.ops))
		if !more {
			c.ops[fork].to = int32(fork + 1) // there is no other
		}
	}
	c.at++
	for _, i := range ends {
		c.ops[i].to = int32(len(c.ops))
	}
	return stands, nil
}

// class reads a class: characters, and ranges of them.
func (c *compiler) class() {
	end := c.at + classLen(c.text[c.at:]) - 1
	var set chars
	if c.at++; c.text[c.at] == '!' || c.text[c.at] == '^' {
		set.negate = true
		c.at++
	}
	for c.at < end {
		lo := c.char()
		hi := lo
		if c.at < end-1 && c.text[c.at] == '-' {
			c.at++
			hi = c.char()
		}
		set.ranges = append(set.ranges, between{lo, hi})
	}
	c.at = end + 1
	c.add(op{kind: class, to: int32(len(c.classes))})
	c.classes = append(c.classes, set)
}

// char reads one character that stands for itself, or one behind a backslash.
func (c *compiler) char() rune {
	if c.text[c.at] == '\\' {
		c.at++
	}
	r, n := decode(c.text[c.at:])
	c.at += n
	return r
}
