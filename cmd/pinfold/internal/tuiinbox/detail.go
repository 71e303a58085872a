package tuiinbox

import (
	"fmt"
	"strings"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
)

// fieldWidth is that of the names before the fields.
const fieldWidth = 6

// lines are the detail of the selected request, each as wide as the screen.
func (m *model) lines() []string {
	if m.shown == nil {
		return nil
	}
	r, p := m.shown.request, m.shown.proposal
	var all []string
	field := func(name, text string) {
		if text == "" {
			return
		}
		for i, line := range wrapped(text, m.width-fieldWidth) {
			label := strings.Repeat(" ", fieldWidth)
			if i == 0 {
				label = strong(name+":") + label[len(name)+1:]
			}
			all = append(all, label+line)
		}
	}
	field("What", what(r))
	for _, also := range r.Also {
		field("and", plain(string(also.Action))+" '"+plain(also.Resource)+"'")
	}
	field("Who", m.who())
	field("Why", quoted(r.Reason))
	if !r.Deadline.IsZero() {
		field("Ends", "by itself at "+r.Deadline.Local().Format(time.DateTime))
	}
	field("Note", p.Note) // it comes escaped
	if p.Diff != "" {
		all = append(all, strong("Diff:")+fmt.Sprintf(" %d added, %d removed", p.Added, p.Removed)+map[bool]string{true: ", cut"}[p.Cut])
		for line := range strings.Lines(p.Diff) {
			for _, part := range wrapped(plainLine(strings.TrimSuffix(line, "\n")), m.width) {
				all = append(all, paintDiff(line, part))
			}
		}
	}
	if r.Input != "" && r.Input != "{}" && (m.args || p.Diff == "") {
		field("Args", plain(r.Input))
	}
	return all
}

func what(r broker.Request) string {
	text := plain(string(r.Action)) + " '" + plain(r.Resource) + "'"
	if r.Tool != "" {
		text += ", by " + plain(r.Tool)
	}
	return text
}

func (m *model) who() string {
	r, a := m.shown.request, m.shown.agent
	text := plain(r.AgentID)
	if a.ID == "" {
		return text
	}
	if a.ParentID != "" {
		text += ", child of " + plain(a.ParentID)
	}
	text += ", in " + plain(a.Cwd)
	if a.Task != "" {
		text += ", hired for " + quoted(a.Task)
	}
	return text
}

// quoted tells an agent's words from ours.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	return "\"" + plain(text) + "\""
}

// plainLine escapes a line that comes escaped: nothing rests on the other end.
// Tabs stay.
func plainLine(line string) string {
	parts := strings.Split(line, "\t")
	for i := range parts {
		parts[i] = plain(parts[i])
	}
	return strings.Join(parts, "\t")
}
