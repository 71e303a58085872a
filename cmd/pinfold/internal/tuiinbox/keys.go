package tuiinbox

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pinfold-dev/pinfold/broker"
)

// scopes are the keys of the scopes, narrowest first.
var scopes = []struct {
	key   string
	scope broker.Scope
}{{"o", broker.Once}, {"p", broker.Path}, {"t", broker.Subtree}, {"s", broker.Session}, {"u", broker.Until}}

// press takes a key.
func (m *model) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if key == "ctrl+c" {
		return tea.Quit
	}
	if m.typing != nil {
		return m.typeKey(msg)
	}
	if m.ready() || m.selected == "" { // what was said has been seen
		m.said = ""
	}
	switch key {
	case "q":
		return tea.Quit
	case "up", "k":
		return m.move(-1)
	case "down", "j":
		return m.move(1)
	case "pgdown", "space", "f":
		m.scroll += m.page()
	case "pgup", "b":
		m.scroll = max(m.scroll-m.page(), 0)
	case "home", "g":
		m.scroll = 0
	case "end", "G":
		m.scroll = len(m.lines())
	case "r":
		return m.refresh()
	case "ctrl+l":
		return tea.ClearScreen
	case "a":
		m.args = !m.args
	case "y":
		if m.ready() {
			return m.approve()
		}
	case "n":
		if m.ready() {
			m.typing = &entry{what: typeReason}
		}
	}
	for _, s := range scopes {
		if s.key != key || !m.ready() {
			continue
		}
		if s.scope == broker.Until {
			m.typing = &entry{what: typeTime}
			break
		}
		m.scope, m.lasting = s.scope, 0
	}
	m.scroll = min(m.scroll, m.mostScroll())
	return nil
}

// move selects the row above or below. From a request that waits no longer it
// goes to the one that took its place.
func (m *model) move(by int) tea.Cmd {
	if m.busy || len(m.rows) == 0 {
		return nil
	}
	to := m.at + by
	if m.gone && by > 0 {
		to = m.at
	}
	to = min(max(to, 0), len(m.rows)-1)
	if to == m.at && !m.gone && m.selected != "" {
		return nil
	}
	return m.choose(to)
}

// typeKey takes a key of what is typed.
func (m *model) typeKey(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		m.typing = nil
	case "enter":
		e := m.typing
		m.typing = nil
		if !m.ready() {
			return nil
		}
		if e.what == typeReason {
			return m.deny(string(e.text))
		}
		d, err := time.ParseDuration(string(e.text))
		if err != nil || d <= 0 {
			m.say(true, "'"+string(e.text)+"' is no time: 30m, for example")
			return nil
		}
		m.scope, m.lasting = broker.Until, d
	default:
		m.typing.press(msg)
	}
	return nil
}
