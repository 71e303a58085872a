package mask

import "bytes"

// maxNested is how deep arrays and inline tables of TOML may stand within one another.
const maxNested = 100

// toml reads tables, keys, strings, numbers, true and false, arrays and inline tables.
// Dates, and numbers that are not decimal, are refused.
func (m *masker) toml() error {
	if err := m.printable(); err != nil {
		return err
	}
	t := tomlFile{masker: m}
	for t.at = t.space(0, len(t.in)); t.at < len(t.in); t.at = t.space(t.at, len(t.in)) {
		if err := t.statement(); err != nil {
			return err
		}
		if end, _ := t.lineEnd(t.at); t.blanks(t.at, end) != end {
			if err := t.tail(t.at, end, "#"); err != nil {
				return err
			}
			t.at = end
		}
	}
	return nil
}

// tomlFile is a file of TOML on its way; at is what is read next.
type tomlFile struct {
	*masker
	at int
}

// statement is a comment, the head of a table, or a key with its value.
func (t *tomlFile) statement() error {
	end, _ := t.lineEnd(t.at)
	switch {
	case t.in[t.at] == '#':
		return nil
	case t.in[t.at] != '[':
		return t.pair(0)
	}
	brackets := 1
	if t.at+1 < end && t.in[t.at+1] == '[' {
		brackets = 2
	}
	t.at += brackets
	if err := t.key(']'); err != nil {
		return err
	}
	if !bytes.HasPrefix(t.in[t.at:end], bytes.Repeat([]byte("]"), brackets)) {
		return t.unclear(t.at, "the head of a table that does not end")
	}
	t.at += brackets
	return nil
}

// key goes past a key, up to the byte that ends it.
func (t *tomlFile) key(until byte) error {
	for {
		end, _ := t.lineEnd(t.at)
		t.at = t.blanks(t.at, end)
		from := t.at
		if from < end && (t.in[from] == '"' || t.in[from] == '\'') {
			n := bytes.IndexByte(t.in[from+1:end], t.in[from])
			if n < 0 || bytes.IndexByte(t.in[from+1:from+1+n], '\\') >= 0 {
				return t.unclear(from, "no key")
			}
			t.at += n + 2
		} else if t.at = t.run(from, end, func(b byte) bool { return isWord(b) || b == '-' }); t.at == from {
			return t.unclear(from, "no key")
		}
		t.at = t.blanks(t.at, end)
		switch {
		case t.at < end && t.in[t.at] == until:
			return nil
		case t.at < end && t.in[t.at] == '.':
			t.at++
		default:
			return t.unclear(t.at, "a key that does not end")
		}
	}
}

func (t *tomlFile) pair(depth int) error {
	if err := t.key('='); err != nil {
		return err
	}
	end, _ := t.lineEnd(t.at)
	t.at = t.blanks(t.at+1, end)
	return t.tomlValue(depth)
}

func (t *tomlFile) tomlValue(depth int) error {
	from := t.at
	rest := t.in[from:]
	switch {
	case depth > maxNested:
		return t.unclear(from, "brackets within brackets, too deep")
	case bytes.HasPrefix(rest, []byte(`"""`)), bytes.HasPrefix(rest, []byte("'''")):
		return t.multiline(rest[:3])
	case bytes.HasPrefix(rest, []byte(`"`)), bytes.HasPrefix(rest, []byte("'")):
		end, _ := t.lineEnd(from)
		for k := from + 1; k < end; k++ {
			switch {
			case t.in[k] == '\\' && rest[0] == '"':
				k++
			case t.in[k] == rest[0]:
				t.value(from+1, k)
				t.at = k + 1
				return nil
			}
		}
		return t.unclear(from, "a quote that is not closed in its line")
	case bytes.HasPrefix(rest, []byte("[")):
		return t.items(']', func() error { return t.tomlValue(depth + 1) })
	case bytes.HasPrefix(rest, []byte("{")):
		return t.items('}', func() error { return t.pair(depth + 1) })
	}
	t.at = t.run(from, len(t.in), func(b byte) bool { return isName(b) || b == '+' })
	switch word := t.in[from:t.at]; {
	case string(word) == "true", string(word) == "false":
		return nil
	case isDecimal(word):
		t.number(from, t.at)
		return nil
	}
	return t.unclear(from, "no value that is read here")
}

// isDecimal reports whether word is a decimal number of TOML, with or without a fraction.
func isDecimal(word []byte) bool {
	word = bytes.TrimLeft(word, "+-")
	if len(word) == 0 || !isDigit(word[0]) || !isDigit(word[len(word)-1]) || bytes.Count(word, []byte(".")) > 1 {
		return false
	}
	return len(bytes.Trim(word, "0123456789_.")) == 0
}

// multiline masks a string in three quotes.
func (t *tomlFile) multiline(quotes []byte) error {
	from := t.at + 3
	for k := from; k < len(t.in); k++ {
		switch {
		case t.in[k] == '\\' && quotes[0] == '"':
			k++
		case bytes.HasPrefix(t.in[k:], quotes):
			for k+3 < len(t.in) && t.in[k+3] == quotes[0] { // they belong to the string
				k++
			}
			t.text(from, k)
			t.at = k + 3
			return nil
		}
	}
	return t.unclear(from, "a quote that is not closed")
}

// items goes through what stands between brackets, parted by commas.
func (t *tomlFile) items(until byte, item func() error) error {
	from := t.at
	t.at++
	for {
		t.gap()
		switch {
		case t.at == len(t.in):
			return t.unclear(from, "a bracket that is not closed")
		case t.in[t.at] == until:
			t.at++
			return nil
		}
		if err := item(); err != nil {
			return err
		}
		t.gap()
		switch {
		case t.at < len(t.in) && t.in[t.at] == ',':
			t.at++
		case t.at == len(t.in) || t.in[t.at] != until:
			return t.unclear(t.at, "no comma between items")
		}
	}
}

// gap goes past white space and comments, which it masks.
func (t *tomlFile) gap() {
	for {
		t.at = t.space(t.at, len(t.in))
		if t.at == len(t.in) || t.in[t.at] != '#' {
			return
		}
		end, _ := t.lineEnd(t.at)
		t.value(t.at+1, end)
		t.at = end
	}
}
