package broker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// storable is text as a Store takes it: valid UTF-8 without NUL.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// isStorable reports whether storable would leave s as it is.
func isStorable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// shown is text of an agent as a manager reads it: on one line, without
// control characters or anything else that a terminal would obey, and cut.
func shown(s string, most int) string {
	cut := s
	if n := most * utf8.UTFMax; len(cut) > n {
		cut = cut[:n] // before escaping, so that a long text costs no more
	}
	cut = pathresolver.EscapePath(cut)
	runes := 0
	for i := range cut {
		if runes++; runes > most {
			cut = cut[:i]
			break
		}
	}
	if len(cut) < len(s) {
		return fmt.Sprintf("%s… (cut, %d bytes in all)", cut, len(s))
	}
	return cut
}

// cutTo keeps the end of a text, at most n bytes, in whole characters.
func cutTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// compactJSON is a call's arguments on one line; what is no JSON becomes a
// string of it.
func compactJSON(input []byte) string {
	var b bytes.Buffer
	if len(bytes.TrimSpace(input)) == 0 {
		return "{}"
	}
	if utf8.Valid(input) && json.Compact(&b, input) == nil {
		return b.String()
	}
	text, err := json.Marshal(string(input))
	if err != nil {
		return "{}"
	}
	return string(text)
}

// clock is a time as a Store takes it.
func clock(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// jsonOf is a value of ours as JSON.
func jsonOf(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil // strings always encode
	}
	return b.Bytes()
}
