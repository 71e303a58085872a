package fileskills

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// template is the replacement of a regular expression: text and groups, in the
// notation of Python's re.sub: \1, \g<1>, \g<name>, \g<0> for the whole match,
// \n, \t, \r and \\.
type template []templatePart

// templatePart is text, or a group from 0.
type templatePart struct {
	text  string
	group int // -1: text
}

func (p *pattern) template(replacement string) (template, error) {
	replacement = lineFeeds(replacement)
	if strings.Contains(replacement, "\x00") {
		return nil, errNUL("replacement")
	}
	var t template
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			t = append(t, templatePart{text.String(), -1})
			text.Reset()
		}
	}
	for rest := replacement; rest != ""; {
		before, after, escaped := strings.Cut(rest, `\`)
		text.WriteString(before)
		if !escaped {
			break
		}
		if after == "" {
			return nil, badTemplate("ends with a backslash")
		}
		c := after[0]
		rest = after[1:]
		switch {
		case c == '\\':
			text.WriteByte('\\')
		case c == 'n':
			text.WriteByte('\n')
		case c == 't':
			text.WriteByte('\t')
		case c == 'r':
			text.WriteByte('\r')
		case c == 'g':
			name, tail, ok := strings.Cut(strings.TrimPrefix(rest, "<"), ">")
			if !ok || !strings.HasPrefix(rest, "<") {
				return nil, badTemplate(`has \g without <name>`)
			}
			group, ok := p.group(name)
			if !ok {
				return nil, badTemplate("names group %q, but %s", clip(name, 40), p.groupText())
			}
			flush()
			t, rest = append(t, templatePart{group: group}), tail
		case '1' <= c && c <= '9':
			digits := after[:1]
			if rest != "" && '0' <= rest[0] && rest[0] <= '9' {
				digits, rest = after[:2], rest[1:]
			}
			group, ok := p.group(digits)
			if !ok {
				return nil, badTemplate(`names group \%s, but %s; a digit behind a group is written \g<1>0`, digits, p.groupText())
			}
			flush()
			t = append(t, templatePart{group: group})
		case c == '0', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			return nil, badTemplate(`has an escape \%c that means nothing`, c)
		default:
			text.WriteByte('\\') // as in Python: \. is \.
			rest = after
		}
	}
	flush()
	return t, nil
}

func badTemplate(format string, args ...any) error {
	return fail(CodeInvalidArgument, "", "replacement "+format+". Nothing was changed.", args...).
		hint(`Groups are \1 and \g<name>; a backslash is \\.`)
}

// group is the number of a group that is given by number or name.
func (p *pattern) group(name string) (int, bool) {
	if n, err := strconv.Atoi(name); err == nil {
		return n, 0 <= n && n < len(p.names)
	}
	n := slices.Index(p.names, name)
	return n, n > 0
}

// size is the length of what expand returns.
func (t template) size(m match) int {
	n := 0
	for _, part := range t {
		if part.group < 0 {
			n += len(part.text)
		} else {
			n += m[2*part.group+1] - m[2*part.group] // -1 - -1 where it took no part
		}
	}
	return n
}

// expand is the replacement of one match in text.
func (t template) expand(text []byte, m match) string {
	var b strings.Builder
	b.Grow(t.size(m))
	for _, part := range t {
		switch {
		case part.group < 0:
			b.WriteString(part.text)
		case m[2*part.group] >= 0:
			b.Write(text[m[2*part.group]:m[2*part.group+1]])
		}
	}
	return b.String()
}

// foreignGroup is how other notations write a group.
var foreignGroup = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(?:[0-9]|\{\w+\})`) })

// note warns of a replacement that looks like another notation.
func (p *pattern) note(replacement string) string {
	if f := foreignGroup().FindString(replacement); f != "" && len(p.names) > 1 {
		return "Note: " + f + ` was written as it stands. Groups are \1 and \g<name>.`
	}
	return ""
}
