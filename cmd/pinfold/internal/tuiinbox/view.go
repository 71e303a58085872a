package tuiinbox

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

// View is the whole screen: what waits, the one that is selected, and what can be
// done about it.
func (m *model) View() tea.View {
	top, bottom := m.list(), m.footer()
	room := max(m.height-len(top)-len(bottom), 0)
	all := top
	body := m.body()
	from := min(m.scroll, max(len(body)-room, 0))
	body = body[from:min(from+room, len(body))]
	all = append(all, body...)
	for len(all) < m.height-len(bottom) {
		all = append(all, "")
	}
	all = append(all, bottom...)
	if len(all) > m.height {
		all = all[len(all)-m.height:]
	}
	for i := range all {
		all[i] = ansi.Truncate(all[i], m.width, "")
	}
	v := tea.NewView(strings.Join(all, "\n"))
	v.AltScreen = true
	return v
}

// maxListed bounds the lines of the list, beside a third of the screen.
const maxListed = 10

// list is the title and what waits, around the selected one.
func (m *model) list() []string {
	title := fmt.Sprintf("pinfold requests: %d waiting", len(m.rows))
	if !m.listed {
		title = "pinfold requests: asking the broker"
	}
	all := []string{strong(title)}
	n := min(len(m.rows), maxListed, max(m.height/3, 1))
	from := min(max(m.at-n/2, 0), len(m.rows)-n)
	for i := from; i < from+n; i++ {
		r := m.rows[i]
		line := fmt.Sprintf("  %s  %s  %s", plain(r.AgentID), what(r), cli.Age(r.CreatedAt))
		if r.ID == m.selected {
			line = chosen(short(">"+line[1:], m.width))
		}
		all = append(all, short(line, m.width))
	}
	if hidden := len(m.rows) - n; hidden > 0 {
		all = append(all, faint(fmt.Sprintf("  and %d more", hidden)))
	}
	return append(all, faint(strings.Repeat("─", m.width)))
}

// body is what the middle of the screen shows.
func (m *model) body() []string {
	switch {
	case m.selected == "" && m.listed:
		return []string{"Nothing waits for your answer."}
	case m.selected != "" && m.shown == nil && !m.gone:
		return []string{faint("reading it")}
	}
	return m.lines()
}

// footer is what can be done now, and what was.
func (m *model) footer() []string {
	all := []string{faint(strings.Repeat("─", m.width))}
	if m.broken != "" {
		all = append(all, m.fold(bad("not connected: "+m.broken))...)
	}
	if m.said != "" {
		if m.saidBad {
			all = append(all, m.fold(bad(m.said))...)
		} else {
			all = append(all, m.fold(good(m.said))...)
		}
	}
	if m.ignored {
		all = append(all, m.fold(bad("typing is ignored until you pause"))...)
	}
	switch {
	case m.typing != nil && m.typing.what == typeReason:
		all = append(all, m.fold("Why not? "+string(m.typing.text)+"█")...)
		return append(all, m.fold(strong(denyKey)+" denies  "+faint("esc takes it back"))...)
	case m.typing != nil:
		all = append(all, m.fold("For how long? (30m, for example) "+string(m.typing.text)+"█")...)
		return append(all, m.fold(faint("enter takes it  esc takes it back"))...)
	case m.gone:
		all = append(all, m.fold("It waits no longer: somebody has answered it, or it was withdrawn.")...)
	case m.busy:
		all = append(all, "answering")
	case m.approving:
		all = append(all, m.fold(strong("Approve for "+plain(m.shown.request.AgentID)+": ")+m.reach())...)
		all = append(all, m.fold(m.scopeKeys())...)
		how := faint("reading")
		if m.canGive() {
			how = strong(approveKey) + " approves  " + faint("any other key takes it back")
		}
		return append(all, m.fold(how)...)
	}
	keys := faint("↑/↓ select  q leave")
	if m.ready() {
		keys = strong("a") + " approve…  " + strong("d") + " deny…  " + faint("↑/↓ select  space/b scroll  v arguments  q leave")
	}
	if more := len(m.body()) - m.scroll - m.room(len(all)+1); more > 0 {
		keys = faint(fmt.Sprintf("%d lines more below  ", more)) + keys
	}
	return append(all, m.fold(keys)...)
}

// reach says what the approval would let happen.
func (m *model) reach() string {
	text := scopeText(m.shown.request, m.scope)
	if m.scope == broker.Once {
		text = what(m.shown.request) + ": " + text
	}
	if m.scope == broker.Until {
		text += " (" + m.lasting.String() + ")"
	}
	return text
}

func (m *model) scopeKeys() string {
	var words []string
	for _, s := range scopes {
		word := s.key + " " + string(s.scope)
		if s.scope == m.scope {
			word = chosen(word)
		}
		words = append(words, word)
	}
	return "how far: " + strings.Join(words, "  ")
}

func (m *model) fold(line string) []string { return wrapped(line, m.width) }

// room is how many lines the detail has beside a footer of that many.
func (m *model) room(footer int) int { return max(m.height-len(m.list())-footer, 1) }

// page is how far one key scrolls.
func (m *model) page() int { return max(m.room(len(m.footer()))-1, 1) }

func (m *model) mostScroll() int { return max(len(m.body())-m.room(len(m.footer())), 0) }
