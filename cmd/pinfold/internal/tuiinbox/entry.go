package tuiinbox

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// typeReason and typeTime are what can be typed.
const (
	typeReason = iota
	typeTime
)

// maxTyped bounds it, in characters; the broker takes as many.
const maxTyped = 1000

// entry is one line that is being typed.
type entry struct {
	what int
	text []rune
}

// add adds what can be printed; a line break is a space.
func (e *entry) add(text string) {
	for _, c := range strings.ReplaceAll(text, "\r\n", "\n") {
		switch {
		case len(e.text) >= maxTyped:
			return
		case c == '\n' || c == '\r' || c == '\t':
			e.text = append(e.text, ' ')
		case unicode.IsPrint(c):
			e.text = append(e.text, c)
		}
	}
}

func (e *entry) press(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "backspace", "ctrl+h":
		if len(e.text) > 0 {
			e.text = e.text[:len(e.text)-1]
		}
	case "ctrl+u":
		e.text = nil
	case "ctrl+w":
		for len(e.text) > 0 && e.text[len(e.text)-1] == ' ' {
			e.text = e.text[:len(e.text)-1]
		}
		for len(e.text) > 0 && e.text[len(e.text)-1] != ' ' {
			e.text = e.text[:len(e.text)-1]
		}
	default:
		e.add(msg.Key().Text)
	}
}
