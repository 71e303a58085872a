package tuiinbox

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// plain is text of others for one line of the screen.
func plain(text string) string { return pathresolver.EscapePath(text) }

// wrapped is a line of the screen, continued on further lines where it is too long:
// nobody reads what is cut off at the edge.
func wrapped(line string, width int) []string {
	if width < 1 {
		width = 1
	}
	return strings.Split(ansi.Hardwrap(strings.ReplaceAll(line, "\t", "    "), width, true), "\n")
}

// short is a line that may be cut: all of it stands elsewhere.
func short(line string, width int) string { return ansi.Truncate(line, width, "…") }

// scopeText says what an approval would let happen.
func scopeText(r broker.Request, s broker.Scope) string {
	by := ""
	if r.Tool != "" {
		by = " by " + plain(r.Tool)
	}
	what := plain(string(r.Action)) + " '" + plain(r.Resource) + "'" + by
	switch s {
	case broker.Path:
		return what + ", as often as it likes"
	case broker.Subtree:
		return what + " and all beneath it, as often as it likes"
	case broker.Session:
		return plain(string(r.Action)) + by + " anywhere that it may ask for, as often as it likes"
	case broker.Until:
		return what + ", as often as it likes for a time"
	}
	return "this one call"
}

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
