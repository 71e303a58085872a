package gitrepo

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// setting is one variable of a configuration file.
type setting struct {
	section, name string // in lower case, as git compares them
	subsection    string // as written; in lower case where it was written [section.sub]
	sub           bool   // there is a subsection, maybe an empty one
	value         string
	bare          bool // the name alone, which means true
	line          int  // where the name stands, from 1
}

// key is the setting's name as git prints it.
func (s setting) key() string {
	switch {
	case s.sub:
		return s.section + "." + s.subsection + "." + s.name
	case s.section == "":
		return s.name
	}
	return s.section + "." + s.name
}

// Setting is the last value of a variable, such as "core.worktree", in the text of
// a configuration. What that includes is not read. ok is false where the variable
// is not there or the text is not git's syntax.
func Setting(text []byte, key string) (value string, ok bool) {
	settings, err := parseConfig("config", text)
	if err != nil {
		return "", false
	}
	for _, s := range settings {
		if s.key() == key {
			value, ok = s.value, true
		}
	}
	return value, ok
}

// Pick is the text of a configuration with only the variables of keys, as git prints
// them: "user.email". It is empty where the text is not git's syntax. Values are quoted
// anew, so that none of them reads as more than a value.
func Pick(text []byte, keys []string) []byte {
	settings, err := parseConfig("config", text)
	if err != nil {
		return nil
	}
	quote := strings.NewReplacer("\\", "\\\\", `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)
	var b bytes.Buffer
	for _, s := range settings {
		switch {
		case s.sub || !slices.Contains(keys, s.key()):
		case s.bare:
			fmt.Fprintf(&b, "[%s]\n\t%s\n", s.section, s.name)
		default:
			fmt.Fprintf(&b, "[%s]\n\t%s = \"%s\"\n", s.section, s.name, quote.Replace(s.value))
		}
	}
	return b.Bytes()
}

// parseConfig reads the syntax of git-config(1). It keeps whitespace inside a
// value as it is written, as git does since 2.45; before that git wrote each
// such byte as a space. file is for the messages.
func parseConfig(file string, text []byte) ([]setting, error) {
	p := &configParser{file: file, text: bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), line: 1}
	// git would see the text up to the NUL, and what it does with the rest
	// depends on where the NUL stands.
	if at := bytes.IndexByte(text, 0); at >= 0 {
		return nil, &Error{File: file, Line: 1 + bytes.Count(text[:at], []byte("\n")), Reason: "a NUL byte stands in the configuration"}
	}
	return p.parse()
}

type configParser struct {
	file string
	text []byte
	at   int
	line int // of the character that was read last
	next int // how much line grows with the next character
	end  bool
}

// char is the next character. A line ends in "\n" or "\r\n"; the end of the
// file is a line's end too, after which end is true.
func (p *configParser) char() byte {
	p.line += p.next
	p.next = 0
	if p.at == len(p.text) {
		p.end = true
		return '\n'
	}
	c := p.text[p.at]
	p.at++
	if c == '\r' && p.at < len(p.text) && p.text[p.at] == '\n' {
		p.at++
		c = '\n'
	}
	if c == '\n' {
		p.next = 1
	}
	return c
}

func (p *configParser) fail(line int, reason string) error {
	return &Error{File: p.file, Line: line, Reason: "not git's configuration syntax: " + reason}
}

func (p *configParser) parse() ([]setting, error) {
	var found []setting
	var head setting
	comment := false
	for {
		c := p.char()
		switch {
		case c == '\n' && p.end:
			return found, nil
		case c == '\n':
			comment = false
		case comment || isSpace(c):
		case c == '#' || c == ';':
			comment = true
		case c == '[':
			var err error
			if head, err = p.header(); err != nil {
				return nil, err
			}
		case isAlpha(c):
			s, err := p.variable(c)
			if err != nil {
				return nil, err
			}
			s.section, s.subsection, s.sub = head.section, head.subsection, head.sub
			found = append(found, s)
		default:
			return nil, p.fail(p.line, "a name begins with a letter")
		}
	}
}

// header reads a section's header after its opening bracket.
func (p *configParser) header() (head setting, err error) {
	line := p.line
	var name strings.Builder
	for {
		c := p.char()
		switch {
		case p.end || c == '\n':
			return head, p.fail(line, "the section's header has no end")
		case c == ']':
			if name.Len() == 0 {
				return head, p.fail(line, "the section has no name")
			}
			// [a.b] is the old way to write [a "b"].
			head.section, head.subsection, head.sub = strings.Cut(name.String(), ".")
			return head, nil
		case isSpace(c):
			quoted, err := p.subsection(line)
			head.section, head.subsection, head.sub = strings.Cut(name.String(), ".")
			if head.sub {
				quoted = head.subsection + "." + quoted
			}
			head.subsection, head.sub = quoted, true
			return head, err
		case !isKeyChar(c) && c != '.':
			return head, p.fail(line, "a section's name has letters, digits, '-' and '.'")
		}
		name.WriteByte(lower(c))
	}
}

// subsection reads a quoted subsection and the closing bracket.
func (p *configParser) subsection(line int) (string, error) {
	c := p.char()
	for isSpace(c) && c != '\n' {
		c = p.char()
	}
	if c != '"' {
		return "", p.fail(line, "a subsection stands in double quotes")
	}
	var name strings.Builder
	for {
		c := p.char()
		if c == '"' {
			break
		}
		if c == '\\' {
			c = p.char()
		}
		if c == '\n' {
			return "", p.fail(line, "the subsection has no end")
		}
		name.WriteByte(c)
	}
	if p.char() != ']' {
		return "", p.fail(line, "a subsection is followed by ']'")
	}
	return name.String(), nil
}

// variable reads a name, of which first is the first character, and its value.
func (p *configParser) variable(first byte) (setting, error) {
	s := setting{line: p.line}
	var name strings.Builder
	c := first
	for ; !p.end && isKeyChar(c); c = p.char() {
		name.WriteByte(lower(c))
	}
	s.name = name.String()
	for c == ' ' || c == '\t' {
		c = p.char()
	}
	switch c {
	case '\n':
		s.bare = true
		return s, nil
	case '=':
		var err error
		s.value, err = p.value(s.line)
		return s, err
	}
	return s, p.fail(s.line, "a name is followed by '=' or the end of the line")
}

// value reads a value up to the end of its last line.
func (p *configParser) value(line int) (string, error) {
	var value []byte
	trim := -1 // where the whitespace begins that may turn out to be the last
	quoted, comment := false, false
	for {
		c := p.char()
		switch {
		case c == '\n':
			if quoted {
				return "", p.fail(line, "a quote has no end")
			}
			if trim >= 0 {
				value = value[:trim]
			}
			return string(value), nil
		case comment:
			continue
		case isSpace(c) && !quoted:
			if len(value) > 0 {
				if trim < 0 {
					trim = len(value)
				}
				value = append(value, c)
			}
			continue
		case !quoted && (c == ';' || c == '#'):
			comment = true
			continue
		}
		if c == '"' {
			trim = -1
			quoted = !quoted
			continue
		}
		if c == '\\' {
			switch c = p.char(); c {
			case '\n':
				// The line goes on; the whitespace before it is inside the value.
				trim = -1
				continue
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case 'n':
				c = '\n'
			case '\\', '"':
			default:
				return "", p.fail(line, `after '\' stands one of n, t, b, '"', '\' or the end of the line`)
			}
		}
		trim = -1
		value = append(value, c)
	}
}

// isSpace is git's notion: neither vertical tab nor form feed.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isAlpha(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isKeyChar(c byte) bool { return isAlpha(c) || '0' <= c && c <= '9' || c == '-' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
