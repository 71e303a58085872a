package cli

import (
	"encoding/json"
	"fmt"
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
