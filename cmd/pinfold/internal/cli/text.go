package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

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
