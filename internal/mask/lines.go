package mask

import (
	"bytes"
	"strings"
)

// dotenv reads lines NAME=value, with or without export and quotes.
func (m *masker) dotenv() error {
	if err := m.printable(); err != nil {
		return err
	}
	for i := 0; i < len(m.in); {
		next, err := m.dotenvLine(i)
		if err != nil {
			return err
		}
		i = next
	}
	return nil
}

// lineEnd is where the line of i ends, without the end itself, and where the next begins.
func (m *masker) lineEnd(i int) (end, next int) {
	end, next = len(m.in), len(m.in)
	if n := bytes.IndexByte(m.in[i:], '\n'); n >= 0 {
		end, next = i+n, i+n+1
	}
	if end > i && m.in[end-1] == '\r' {
		end--
	}
	return end, next
}

func (m *masker) dotenvLine(i int) (next int, err error) {
	end, next := m.lineEnd(i)
	i = m.blanks(i, end)
	switch {
	case i == end:
		return next, nil
	case m.in[i] == '#':
		m.value(i+1, end)
		return next, nil
	}
	if rest := m.in[i:end]; bytes.HasPrefix(rest, []byte("export ")) || bytes.HasPrefix(rest, []byte("export\t")) {
		i = m.blanks(i+len("export"), end)
	}
	name := i
	i = m.run(i, end, isName)
	if i == name || isDigit(m.in[name]) {
		return 0, m.unclear(name, "no name of a variable")
	}
	long := i-name > 20
	if i = m.blanks(i, end); i == end || m.in[i] != '=' {
		return 0, m.unclear(i, "no \"=\" behind a name")
	}
	i = m.blanks(i+1, end)
	switch {
	case i == end && long, i < end && m.in[i] == '=' && long:
		return 0, m.unclear(i, "a long name without a value, which could be the rest of one")
	case i == end:
		return next, nil
	case m.in[i] == '"' || m.in[i] == '\'':
		return m.quoted(i, m.in[i], "#")
	case m.in[i] == '#':
		m.value(i+1, end)
		return next, nil
	case bytes.ContainsAny(m.in[i:end], "\"'`") || bytes.Contains(m.in[i:end], []byte("$(")) || bytes.Contains(m.in[i:end], []byte("<<")):
		return 0, m.unclear(i, "quotes or a command within a value")
	case m.in[end-1] == '\\':
		return 0, m.unclear(end, "a value that goes on in the next line")
	}
	m.bare(i, end, "#")
	return next, nil
}

// quoted masks the string that begins with the quote at i, over as many lines as it has.
func (m *masker) quoted(i int, quote byte, marks string) (next int, err error) {
	for k := i + 1; k < len(m.in); k++ {
		switch {
		case m.in[k] == '\\' && quote == '"':
			k++
		case m.in[k] == quote:
			m.text(i+1, k)
			end, next := m.lineEnd(k)
			return next, m.tail(k+1, end, marks)
		}
	}
	return 0, m.unclear(i, "a quote that is not closed")
}

// ini reads sections and lines key=value or key: value. What is indented deeper than the
// key before it belongs to that key's value.
func (m *masker) ini() error { return m.sections(isName, "=:") }

// npmrc reads lines key=value, whose keys may be addresses.
func (m *masker) npmrc() error {
	return m.sections(func(b byte) bool { return isName(b) || strings.IndexByte("/:@[]", b) >= 0 }, "=")
}

func (m *masker) sections(isKey func(b byte) bool, separators string) error {
	if err := m.printable(); err != nil {
		return err
	}
	indent, inValue := 0, false
	return m.lines(func(start, end int) error {
		end = m.trimmed(start, end)
		i := m.blanks(start, end)
		switch {
		case i == end:
			return nil
		case m.in[i] == '#' || m.in[i] == ';':
			m.value(i+1, end)
			return nil
		case inValue && i-start > indent:
			m.value(i, end)
			return nil
		case m.in[i] == '[':
			inValue = false
			at := m.run(i+1, end, func(b byte) bool { return isName(b) || b == ' ' || b == '"' })
			if at == i+1 || at == end || m.in[at] != ']' {
				return m.unclear(i, "no name of a section")
			}
			return m.tail(at+1, end, "#;")
		}
		at := m.run(i, end, isKey)
		if at == i || bytes.IndexByte(m.in[i+1:at], '@') >= 0 {
			return m.unclear(i, "no key")
		}
		long := at-i > 20
		at = m.blanks(at, end)
		if at == end || strings.IndexByte(separators, m.in[at]) < 0 {
			return m.unclear(at, "nothing that parts a key from its value")
		}
		indent, inValue = i-start, true
		at = m.blanks(at+1, end)
		switch {
		case at == end && long, at < end && m.in[at] == '=' && long:
			return m.unclear(at, "a long key without a value, which could be the rest of one")
		case at == end:
			return nil
		case m.in[end-1] == '\\':
			return m.unclear(end, "a value that goes on in the next line")
		}
		if q := m.in[at]; (q == '"' || q == '\'') && end-at >= 2 && m.in[end-1] == q && bytes.Count(m.in[at:end], []byte{q}) == 2 {
			m.value(at+1, end-1)
			return nil
		}
		m.bare(at, end, "#;")
		return nil
	})
}

// properties reads lines key=value or key: value; a backslash at the end of a line
// continues the value.
func (m *masker) properties() error {
	if err := m.printable(); err != nil {
		return err
	}
	goesOn := false
	err := m.lines(func(i, end int) error {
		i = m.blanks(i, end)
		switch {
		case goesOn:
		case i == end:
			return nil
		case m.in[i] == '#' || m.in[i] == '!':
			m.value(i+1, end)
			return nil
		default:
			key := i
			if i = m.run(i, end, isName); i == key {
				return m.unclear(key, "no key")
			}
			long := i-key > 60
			if i = m.blanks(i, end); i == end || m.in[i] != '=' && m.in[i] != ':' {
				return m.unclear(i, "nothing that parts a key from its value")
			}
			if i = m.blanks(i+1, end); long && (i == end || m.in[i] == '=') {
				return m.unclear(i, "a long key without a value, which could be the rest of one")
			}
		}
		slashes := 0
		for end-slashes > i && m.in[end-slashes-1] == '\\' {
			slashes++
		}
		if goesOn = slashes%2 == 1; goesOn {
			end--
		}
		m.value(i, end)
		return nil
	})
	if err == nil && goesOn {
		return m.unclear(len(m.in), "a value that goes on, and the file ends")
	}
	return err
}

// pem reads blocks between BEGIN and END, and nothing beside them.
func (m *masker) pem() error {
	if err := m.printable(); err != nil {
		return err
	}
	label := ""
	err := m.lines(func(i, end int) error {
		end = m.trimmed(i, end)
		line := string(m.in[i:end])
		switch {
		case strings.HasPrefix(line, "-----"):
			kind, rest, _ := strings.Cut(strings.TrimPrefix(line, "-----"), " ")
			rest, whole := strings.CutSuffix(rest, "-----")
			if !whole || !isLabel(rest) || kind != "BEGIN" && kind != "END" || (kind == "BEGIN") != (label == "") || kind == "END" && rest != label {
				return m.unclear(i, "no line that begins or ends a block")
			}
			if label = rest; kind == "END" {
				label = ""
			}
		case line == "":
		case label == "":
			return m.unclear(i, "something beside the blocks")
		default:
			if at := m.run(i, end, isName); at < end && m.in[at] == ':' {
				m.value(m.blanks(at+1, end), end)
				return nil
			}
			if at := m.run(i, end, isBase64); len(bytes.Trim(m.in[at:end], "=")) > 0 || end-at > 2 {
				return m.unclear(i, "a line that is no base64")
			}
			m.value(i, m.run(i, end, isBase64))
		}
		return nil
	})
	if err == nil && label != "" {
		return m.unclear(len(m.in), "a block that does not end")
	}
	return err
}

// isLabel reports whether s names a kind of block: "RSA PRIVATE KEY".
func isLabel(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ") == "" && len(s) <= 40
}

// isBase64 are the bytes of base64 but for those that fill up its end.
func isBase64(b byte) bool { return isWord(b) && b != '_' || b == '+' || b == '/' }
