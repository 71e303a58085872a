package tuiinbox

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Where colours are not wanted the terminal's writer leaves them out, and keeps
// what is bold, faint or reversed.

func strong(text string) string { return ansi.Style{}.Bold().Styled(text) }
func faint(text string) string  { return ansi.Style{}.Faint().Styled(text) }
func chosen(text string) string { return ansi.Style{}.Reverse(true).Styled(text) }
func bad(text string) string    { return ansi.Style{}.ForegroundColor(ansi.Red).Styled(text) }
func good(text string) string   { return ansi.Style{}.ForegroundColor(ansi.Green).Styled(text) }

// paintDiff colours a part of a line of a difference.
func paintDiff(line, part string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return good(part)
	case strings.HasPrefix(line, "-"):
		return bad(part)
	case strings.HasPrefix(line, "@"):
		return ansi.Style{}.ForegroundColor(ansi.Cyan).Styled(part)
	}
	return part
}
