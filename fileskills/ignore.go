package fileskills

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/globs"
)

// The bounds on what .gitignore files make a walk hold and match. What lies
// beyond them does not count, and nothing is ignored by it.
const (
	maxIgnoreFile  = 1 << 20 // bytes of one
	maxIgnoreRules = 10_000  // that count in one directory, inherited ones included
	maxIgnoreSteps = 1 << 16 // that one character of a name may take with all of these
)

// ignoreRule is one line of a .gitignore, on its way down a walk: what is
// ignored beneath a directory is decided by the rules that came down to it, the
// last that matches, as gitignore(5) says.
type ignoreRule struct {
	glob     globs.Glob
	at       globs.States
	include  bool // "!": what matches is not ignored
	dirOnly  bool // "/" at the end
	anywhere bool // no "/" in it: names at any depth
}

// ignoreRules are those that count in one directory, the weakest first.
type ignoreRules []ignoreRule

// parseIgnore reads at most that many rules of a .gitignore. What git would
// never match is dropped.
func parseIgnore(text []byte, most int) ignoreRules {
	var rules ignoreRules
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for line := range strings.Lines(string(text)) {
		if len(rules) >= most {
			break
		}
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if r, ok := parseIgnoreLine(line); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseIgnoreLine(line string) (r ignoreRule, ok bool) {
	if strings.HasPrefix(line, "#") || len(line) > globs.MaxBytes {
		return r, false
	}
	line, r.include = strings.CutPrefix(trimSpaces(line), "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	if line == "" {
		return r, false
	}
	var parts []globs.Part
	if r.anywhere = !strings.Contains(line, "/"); r.anywhere {
		parts = append(parts, anyDirs)
	}
	line = strings.TrimPrefix(line, "/")
	for seg := range strings.SplitSeq(line, "/") {
		p, ok := ignorePart(seg)
		if !ok {
			return r, false
		}
		parts = append(parts, p)
	}
	if len(parts) > globs.MaxComponents {
		return r, false
	}
	r.glob = globs.Of(parts)
	r.at = r.glob.Start()
	return r, true
}

// anyDirs is "**".
var anyDirs, _ = globs.ParsePart("**") // which is valid

// trimSpaces drops spaces at the end that no backslash quotes.
func trimSpaces(line string) string {
	end := len(line)
	for end > 0 && line[end-1] == ' ' {
		end--
	}
	slashes := 0
	for i := end; i > 0 && line[i-1] == '\\'; i-- {
		slashes++
	}
	if end < len(line) && slashes%2 == 1 {
		end++
	}
	return line[:end]
}

// classes are the character classes that git knows within brackets.
var classes = strings.NewReplacer(
	"[:alnum:]", "a-zA-Z0-9", "[:alpha:]", "a-zA-Z", "[:digit:]", "0-9", "[:lower:]", "a-z", "[:upper:]", "A-Z",
	"[:xdigit:]", "0-9a-fA-F", "[:space:]", " \t\n\v\f\r", "[:blank:]", " \t", "[:punct:]", "!-/:-@\\[-`{-~")

// ignorePart turns one component of git's dialect into ours: there braces mean
// nothing, and "]" may stand first within brackets.
func ignorePart(git string) (globs.Part, bool) {
	if git == "" {
		return globs.Part{}, false
	}
	var b strings.Builder
	for i := 0; i < len(git); i++ {
		switch c := git[i]; c {
		case '\\':
			if i++; i == len(git) {
				return globs.Part{}, false
			}
			b.WriteByte('\\')
			b.WriteByte(git[i])
		case '{', '}':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '[':
			end := classEnd(git[i:])
			if end < 0 {
				return globs.Part{}, false
			}
			class := git[i : i+end]
			neg := ""
			if class = class[1:]; class[0] == '!' || class[0] == '^' {
				neg, class = "^", class[1:]
			}
			if class[0] == ']' {
				class = `\` + class
			}
			b.WriteString("[" + neg + classes.Replace(class))
			i += end - 1
		default:
			b.WriteByte(c)
		}
	}
	p, err := globs.ParsePart(b.String())
	return p, err == nil
}

// classEnd is the length of the brackets that s begins with, -1 when they do
// not end.
func classEnd(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	for ; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '[' && i+1 < len(s) && s[i+1] == ':':
			if end := strings.Index(s[i:], ":]"); end > 0 {
				i += end + 1
			}
		case s[i] == ']':
			return i + 1
		}
	}
	return -1
}

// ignored reports whether a name in this directory is.
func (rules ignoreRules) ignored(name string, isDir bool) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		r := &rules[i]
		if (isDir || !r.dirOnly) && globs.Accepts(r.glob, r.at, name) {
			return !r.include
		}
	}
	return false
}

// enter are the rules that come down into a directory beneath.
func (rules ignoreRules) enter(name string) ignoreRules {
	same := true
	for i := range rules {
		if !rules[i].anywhere {
			same = false
			break
		}
	}
	if same {
		return rules
	}
	down := make(ignoreRules, 0, len(rules))
	for _, r := range rules {
		if !r.anywhere {
			r.at = r.glob.Beneath(globs.Step(r.glob, r.at, name))
		}
		if r.at != 0 {
			down = append(down, r)
		}
	}
	return down
}

// named drops what would ignore everything in a directory that the caller
// named: it is searched even if it is ignored. inside says that it is.
func (rules ignoreRules) named(inside bool) ignoreRules {
	const nobody = "\x00" // a name that only a wildcard matches
	return slices.DeleteFunc(slices.Clone(rules), func(r ignoreRule) bool {
		return (inside || !r.anywhere) && !r.include && globs.Accepts(r.glob, r.at, nobody)
	})
}

// readIgnore adds the rules of the file at name, if it can be read.
func (rules ignoreRules) readIgnore(top Dir, name string) ignoreRules {
	f, err := top.Open(name)
	if err != nil {
		return rules
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return rules
	}
	own := parseIgnore(text, maxIgnoreRules-len(rules)).bounded(maxIgnoreSteps - rules.steps())
	if len(own) == 0 {
		return rules
	}
	return slices.Concat(rules, own)
}

// steps is the most work that one character of a name is.
func (rules ignoreRules) steps() (n int) {
	for i := range rules {
		n += rules[i].glob.Steps()
	}
	return n
}

// bounded are the first rules that take at most so many steps.
func (rules ignoreRules) bounded(steps int) ignoreRules {
	for i := range rules {
		if steps -= rules[i].glob.Steps(); steps < 0 {
			return rules[:i]
		}
	}
	return rules
}
