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

// The keys that answer. No text contains them, line editors hardly use them, and
// neither tmux nor screen takes them for itself. Each answer has its own, so a person
// who means to deny cannot approve by mistake.
const (
	approveKey = "ctrl+o"
	denyKey    = "ctrl+x"
)

// press takes a key. What writes text is never an answer: it chooses one, and
// only as the first key of a burst.
func (m *model) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch key {
	case "ctrl+c":
		return tea.Quit
	case "ctrl+l":
		return tea.ClearScreen
	}
	m.leaving++
	switch {
	case key == approveKey:
		return m.give()
	case key == denyKey:
		return m.refuse()
	case m.typing != nil:
		m.guard.Note(m.now())
		return m.typeKey(msg)
	}
	if m.ready() || m.selected == "" { // what was said has been seen
		m.said = ""
	}
	if moved, cmd := m.look(key); moved {
		m.guard.Note(m.now())
		return cmd
	}
	if !m.guard.Key(m.now(), key) {
		return m.ignore()
	}
	if m.approving {
		return m.reaches(key)
	}
	return m.command(key)
}

// look takes the keys that only show something else, and write no text.
func (m *model) look(key string) (moved bool, cmd tea.Cmd) {
	switch key {
	case "up":
		cmd = m.move(-1)
	case "down":
		cmd = m.move(1)
	case "pgdown":
		m.scroll += m.page()
	case "pgup":
		m.scroll = max(m.scroll-m.page(), 0)
	case "home":
		m.scroll = 0
	case "end":
		m.scroll = len(m.lines())
	default:
		return false, nil
	}
	m.scroll = min(m.scroll, m.mostScroll())
	return true, cmd
}

// command takes the first key of a burst.
func (m *model) command(key string) (cmd tea.Cmd) {
	switch key {
	case "q":
		return m.after(m.pause, leave{m.leaving}) // what is typed on is not the shell's
	case "k":
		cmd = m.move(-1)
	case "j":
		cmd = m.move(1)
	case "space", "f":
		m.scroll += m.page()
	case "b":
		m.scroll = max(m.scroll-m.page(), 0)
	case "g":
		m.scroll = 0
	case "G":
		m.scroll = len(m.lines())
	case "r":
		return m.refresh()
	case "v":
		m.args = !m.args
	case "a", "d":
		if !m.ready() {
			return m.ignore()
		}
		if key == "d" {
			m.typing = &entry{what: typeReason}
			break
		}
		m.approving, m.chosenAt = true, m.now()
		return m.after(m.pause, unignored{}) // to show that it can be given
	default:
		return m.ignore()
	}
	m.scroll = min(m.scroll, m.mostScroll())
	return cmd
}

// reaches takes a key while an approval is chosen: how far it reaches; any other
// takes it back.
func (m *model) reaches(key string) tea.Cmd {
	for _, s := range scopes {
		if s.key != key {
			continue
		}
		m.chosenAt = m.now()
		if s.scope == broker.Until {
			m.typing = &entry{what: typeTime}
			return nil
		}
		m.scope, m.lasting = s.scope, 0
		return m.after(m.pause, unignored{})
	}
	m.approving, m.scope, m.lasting = false, broker.Once, 0
	m.guard.Ignore(m.now())
	return nil
}

// ignore has what is typed be ignored until there is a pause. It takes an
// approval back that was chosen.
func (m *model) ignore() tea.Cmd {
	if m.approving {
		m.approving, m.scope, m.lasting = false, broker.Once, 0
	}
	m.guard.Ignore(m.now())
	m.ignored = true
	m.ignoring++
	return m.after(m.pause, unignored{m.ignoring})
}

// canGive reports whether the approval that is chosen may be given: it has been
// on the screen, and nothing was typed, for a pause.
func (m *model) canGive() bool {
	now := m.now()
	return m.approving && m.typing == nil && m.ready() && m.guard.Quiet(now) && now.Sub(m.chosenAt) >= m.pause
}

// give approves what is on the screen, if that was chosen.
func (m *model) give() tea.Cmd {
	switch {
	case m.canGive():
		return m.approve()
	case m.approving && m.typing == nil:
		m.say(true, "not approved: pause, then press "+approveKey+" once more")
	default:
		m.say(true, "not approved: a chooses that, and shows what it allows")
	}
	m.guard.Ignore(m.now())
	return m.after(m.pause, unignored{})
}

// refuse denies what is on the screen, with the reason that was typed.
func (m *model) refuse() tea.Cmd {
	if m.typing == nil || m.typing.what != typeReason || !m.ready() {
		m.say(true, "not denied: d asks for the reason first")
		return m.ignore()
	}
	reason := string(m.typing.text)
	m.typing = nil
	return m.deny(reason)
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

// typeKey takes a key of what is typed. Enter ends a time, and no reason.
func (m *model) typeKey(msg tea.KeyPressMsg) tea.Cmd {
	switch key := msg.String(); {
	case key == "esc":
		m.typing = nil
		m.chosenAt = m.now()
		m.guard.Ignore(m.now())
	case key == "enter" && m.typing.what == typeReason:
		m.say(true, "not denied yet: "+denyKey+" denies")
	case key == "enter":
		text := string(m.typing.text)
		m.typing = nil
		m.chosenAt = m.now()
		m.guard.Ignore(m.now())
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			m.say(true, "'"+text+"' is no time: 30m, for example")
			break
		}
		m.scope, m.lasting = broker.Until, d
		return m.after(m.pause, unignored{})
	default:
		m.typing.press(msg)
	}
	return nil
}
