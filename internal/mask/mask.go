package mask

import (
	"bytes"
	"fmt"
	"path"
	"strings"
)

// MaxSize is the largest file that is masked, in bytes.
const MaxSize = 1 << 20

// UnclearError says that a file is not masked, and therefore not shown.
type UnclearError struct {
	Line   int    // where it is not understood, from 1; 0 for the file as a whole
	Reason string // one sentence without a full stop, without anything that stands in the file
}

func (e *UnclearError) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
}

// Key is the secret from which stand-ins are made. Whoever knows it can try values.
type Key [32]byte

// File returns data with stand-ins for its values, as the name tells how it is read. data
// stays as it is. The error is an *UnclearError.
func File(key Key, name string, data []byte) ([]byte, error) {
	if len(data) > MaxSize {
		return nil, &UnclearError{Reason: fmt.Sprintf("it is larger than %d bytes", MaxSize)}
	}
	format := formatOf(path.Base(name), data)
	if format == nil {
		return nil, &UnclearError{Reason: "its name tells no format that can be masked"}
	}
	m := &masker{key: key, in: data, out: bytes.Clone(data)}
	if err := format(m); err != nil {
		return nil, err
	}
	return m.out, nil
}

// formatOf is how a file is read; nil where that cannot be told.
func formatOf(name string, data []byte) func(*masker) error {
	name = strings.ToLower(name)
	switch {
	case bytes.HasPrefix(data, []byte("-----BEGIN ")):
		return (*masker).pem
	case name == ".env", strings.HasPrefix(name, ".env."), strings.HasSuffix(name, ".env"):
		return (*masker).dotenv
	case name == ".npmrc":
		return (*masker).npmrc
	case name == ".pypirc", name == "credentials":
		return (*masker).ini
	}
	switch path.Ext(name) {
	case ".ini", ".cfg", ".conf":
		return (*masker).ini
	case ".properties":
		return (*masker).properties
	case ".json":
		return (*masker).json
	case ".yaml", ".yml":
		return (*masker).yaml
	case ".toml":
		return (*masker).toml
	case ".pem", ".key", ".crt":
		return (*masker).pem
	}
	return nil
}

// masker is one file on its way. What no method has replaced in out is as it was.
type masker struct {
	key     Key
	in, out []byte
}

// unclear is the error for the byte at i.
func (m *masker) unclear(i int, reason string) error {
	return &UnclearError{Line: 1 + bytes.Count(m.in[:min(i, len(m.in))], []byte("\n")), Reason: reason}
}

// text puts a stand-in in the place of in[i:j]. Line ends stay, and each line is a value
// of its own.
func (m *masker) text(i, j int) {
	for start := i; start < j; {
		end := start
		for end < j && m.in[end] != '\n' {
			end++
		}
		stop := end
		if stop > start && m.in[stop-1] == '\r' {
			stop--
		}
		m.value(start, stop)
		start = end + 1
	}
}

// value puts a stand-in in the place of in[i:j].
func (m *masker) value(i, j int) { standIn(m.key, m.out[i:j], m.in[i:j]) }

// number puts another number of as many bytes in the place of in[i:j].
func (m *masker) number(i, j int) { digits(m.key, m.out[i:j], m.in[i:j]) }

// lines calls each for every line, without its end, until one fails.
func (m *masker) lines(each func(i, j int) error) error {
	for start := 0; start < len(m.in); {
		end := len(m.in)
		if n := bytes.IndexByte(m.in[start:], '\n'); n >= 0 {
			end = start + n
		}
		stop := end
		if stop > start && m.in[stop-1] == '\r' {
			stop--
		}
		if err := each(start, stop); err != nil {
			return err
		}
		start = end + 1
	}
	return nil
}

// printable refuses control characters, which no format wants outside of strings.
func (m *masker) printable() error {
	for i, b := range m.in {
		if b < ' ' && b != '\n' && b != '\t' && (b != '\r' || i+1 == len(m.in) || m.in[i+1] != '\n') || b == 0x7f {
			return m.unclear(i, "a control character")
		}
	}
	return nil
}

// blanks is the first byte from i that is no space or tab.
func (m *masker) blanks(i, j int) int {
	for i < j && (m.in[i] == ' ' || m.in[i] == '\t') {
		i++
	}
	return i
}

// trimmed is the end of in[i:j] without spaces and tabs there.
func (m *masker) trimmed(i, j int) int {
	for j > i && (m.in[j-1] == ' ' || m.in[j-1] == '\t') {
		j--
	}
	return j
}

// run is the first byte from i that is none of a word.
func (m *masker) run(i, j int, of func(b byte) bool) int {
	for i < j && of(m.in[i]) {
		i++
	}
	return i
}

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || isDigit(b) || b == '_'
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// isName are the bytes of keys in most formats.
func isName(b byte) bool { return isWord(b) || b == '-' || b == '.' }

// tail masks what stands behind a value: nothing, or a comment.
func (m *masker) tail(i, j int, marks string) error {
	at := m.blanks(i, j)
	switch {
	case at == j:
		return nil
	case strings.IndexByte(marks, m.in[at]) >= 0:
		m.value(at+1, j)
		return nil
	}
	return m.unclear(at, "something behind a value")
}

// bare masks a value without quotes, and the comment behind it.
func (m *masker) bare(i, j int, marks string) {
	for k := i + 1; k < j; k++ {
		if strings.IndexByte(marks, m.in[k]) >= 0 && (m.in[k-1] == ' ' || m.in[k-1] == '\t') {
			m.value(k+1, j)
			m.value(i, m.trimmed(i, k))
			return
		}
	}
	m.value(i, m.trimmed(i, j))
}
