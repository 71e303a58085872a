package globs

import "fmt"

// MaxGlobs is how many globs Alternatives returns at most.
const MaxGlobs = 64

// Alternatives writes out the braces that hold a "/", which no component can:
// src/{a/b,c}/*.go is src/a/b/*.go and src/c/*.go. Other braces stay. There are
// at most MaxGlobs.
func Alternatives(text string) ([]string, error) {
	switch {
	case len(text) > MaxBytes:
		return nil, errLong
	case !balanced(text):
		return nil, errInvalid
	}
	return alternatives(text, nil)
}

func alternatives(text string, to []string) ([]string, error) {
	open, parts, rest := cutBraces(text, true)
	if open < 0 {
		if len(to) == MaxGlobs {
			return nil, fmt.Errorf(`has braces with "/" that stand for more than %d globs`, MaxGlobs)
		}
		return append(to, text), nil
	}
	var err error
	for _, p := range parts {
		if to, err = alternatives(text[:open]+p+rest, to); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// writtenOut appends the globs without braces that one stands for.
func writtenOut(text string, to []string) []string {
	open, parts, rest := cutBraces(text, false)
	if open < 0 {
		return append(to, text)
	}
	for _, p := range parts {
		to = writtenOut(text[:open]+p+rest, to)
	}
	return to
}

// cutBraces finds the first outermost braces, or the first that hold a "/",
// their alternatives, and what follows.
func cutBraces(text string, slashed bool) (open int, parts []string, rest string) {
	depth, from, slash := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '[':
			i += classLen(text[i:]) - 1
		case c == '{':
			if depth++; depth == 1 {
				open, from, parts, slash = i, i+1, nil, false
			}
		case c == '/':
			slash = slash || depth > 0
		case c == ',' && depth == 1:
			parts = append(parts, text[from:i])
			from = i + 1
		case c == '}' && depth > 0:
			if depth--; depth == 0 && (slash || !slashed) {
				return open, append(parts, text[from:i]), text[i+1:]
			}
		}
	}
	return -1, nil, ""
}
