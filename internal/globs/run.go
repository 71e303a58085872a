package globs

import (
	"math/bits"
	"unicode/utf8"
)

const (
	// maxOps is the most instructions that compile makes: each byte of a glob
	// is at most two (a brace or comma: the jump behind one alternative and the
	// split before the next), and done.
	maxOps = 2*MaxBytes + 2

	// fewWords hold the states of nearly every glob that people write.
	fewWords = 2

	// end stands behind the last character of a name.
	end rune = -1
)

// glide matches instructions without alternatives. Of several stars the last is
// the only one to go back to: what stands before it matched as early as it can.
func glide[T Text](p *program, name T) bool {
	ops := p.ops
	at, pos := 0, 0
	star, from := -1, 0
	for pos < len(name) {
		o := &ops[at]
		if o.kind == many {
			at++
			star, from = at, pos
			continue
		}
		char, n := rune(name[pos]), 1
		if char >= utf8.RuneSelf {
			char, n = decode(name[pos:])
		}
		switch {
		case o.kind == one && o.char == char, o.kind == any1, o.kind == class && p.classes[o.to].holds(char):
			at++
			pos += n
		case star < 0:
			return false
		default:
			_, n = decode(name[from:])
			from += n
			at, pos = star, from
		}
	}
	for ops[at].kind == many {
		at++
	}
	return ops[at].kind == done
}

// run follows all states at once. Instructions only lead forward, so that one
// pass over the set from its low end to its high end finds all that are reached
// without a character.
func run[T Text](p *program, name T) bool {
	if words := len(p.ops)/64 + 1; words > fewWords {
		var now, next [maxOps/64 + 1]uint64
		return follow(p, name, now[:words], next[:words])
	}
	var now, next [fewWords]uint64
	return follow(p, name, now[:], next[:])
}

func follow[T Text](p *program, name T, now, next []uint64) bool {
	now[0] = 1
	for {
		char := end
		if len(name) > 0 {
			n := 1
			if char = rune(name[0]); char >= utf8.RuneSelf {
				char, n = decode(name)
			}
			name = name[n:]
		}
		alive := false
		for w := range now {
			set := now[w]
			for ; set != 0; set &= set - 1 {
				at := w<<6 | bits.TrailingZeros64(set)
				switch o := &p.ops[at]; o.kind {
				case one:
					if o.char != char {
						continue
					}
				case any1:
					if char == end {
						continue
					}
				case class:
					if char == end || !p.classes[o.to].holds(char) {
						continue
					}
				case done:
					if char == end {
						return true
					}
					continue
				case split, jump, many:
					to := int(o.to)
					switch {
					case o.kind != jump && at&63 == 63:
						now[w+1] |= 1
					case o.kind != jump:
						set |= 1 << ((at + 1) & 63)
					}
					switch {
					case o.kind == many:
						if char != end {
							next[w] |= 1 << (at & 63)
							alive = true
						}
					case to>>6 == w:
						set |= 1 << (to & 63)
					default:
						now[to>>6] |= 1 << (to & 63)
					}
					continue
				}
				next[(at+1)>>6] |= 1 << ((at + 1) & 63)
				alive = true
			}
			now[w] = 0
		}
		if !alive {
			return false
		}
		now, next = next, now
	}
}

// decode is the first character of a text that is not empty, and its length. A
// byte that is no UTF-8 is a character of its own, beyond those of Unicode.
func decode[T Text](text T) (rune, int) {
	if c := text[0]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	r, n := utf8.DecodeRuneInString(string(text[:min(len(text), utf8.UTFMax)]))
	if r == utf8.RuneError && n == 1 {
		return utf8.MaxRune + 1 + rune(text[0]), 1
	}
	return r, n
}
