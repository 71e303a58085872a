package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Plural is n with its noun.
func Plural(n int, one string) string {
	s := strings.TrimSpace(one)
	if n != 1 {
		s += "s"
	}
	return strconv.Itoa(n) + " " + s
}

// Age is how long ago something was, in its largest unit.
func Age(t time.Time) string {
	d := max(time.Since(t), 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// TimeText is a time as reports and records write it.
func TimeText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// EscapeLines escapes what others said, but for its line feeds.
func EscapeLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range lines {
		lines[i] = pathresolver.EscapePath(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Indent puts two spaces before each line.
func Indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// ShellLine is words as a line for a POSIX shell.
func ShellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		plain := word != "" && !strings.ContainsFunc(word, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:@%+", r)
		})
		if quoted[i] = word; !plain {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// CommandText is what a run's agent is there for.
func CommandText(command []string) string {
	const most = 1000
	return fmt.Sprintf("%.*s", most, strings.ToValidUTF8(strings.Join(command, " "), "\uFFFD"))
}

// SummaryLines is how many lines of what was found are printed at the end of a run.
const SummaryLines = 10

// PathText is a path or a glob in JSON: a string, or, as no byte may get lost,
// {"base64": "..."} where it is not UTF-8.
type PathText string

// MarshalJSON writes a string, or base64 where it is not UTF-8.
func (n PathText) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return json.Marshal(string(n))
	}
	return json.Marshal(map[string][]byte{"base64": []byte(n)})
}

// UnmarshalJSON reads either.
func (n *PathText) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var bytes map[string][]byte
		err := json.Unmarshal(data, &bytes)
		*n = PathText(bytes["base64"])
		return err
	}
	return json.Unmarshal(data, (*string)(n))
}

// Convert is a slice of the other of the two types.
func Convert[To, From ~string](list []From) []To {
	out := make([]To, len(list))
	for i, s := range list {
		out[i] = To(s)
	}
	return out
}

// ByteSize is a flag's number of bytes: 65536, 64K, 512M, 8G, 1T, in powers of 1024.
type ByteSize int64

// String is the number of bytes, "" for none.
func (b *ByteSize) String() string {
	if *b == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Type is what the flag's help calls its value.
func (b *ByteSize) Type() string { return "SIZE" }

// Set parses a size.
func (b *ByteSize) Set(text string) error {
	shift := 0
	number := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(text), "B"), "I")
	if n := len(number); n > 0 {
		if at := strings.IndexByte("KMGT", number[n-1]); at >= 0 {
			shift, number = 10*(at+1), number[:n-1]
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64>>shift {
		return errors.New("a size is a number above 0 with K, M, G or T, such as 512M")
	}
	*b = ByteSize(n << shift)
	return nil
}

// ShortHash is as much of a hash as a person compares.
func ShortHash(hash string) string { return hash[:min(12, len(hash))] }
