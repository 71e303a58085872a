package tuiinbox

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// The messages of the inbox to itself.
type (
	changed  struct{}            // something is new at the broker
	lost     struct{ err error } // it is not heard
	rowsRead struct {
		rows []broker.Request
		err  error
	}
	detailRead struct {
		turn   int
		detail *detail
		err    error
	}
	settled   struct{ turn int } // that selection has been on the screen for a moment
	unignored struct{ n int }    // nothing was typed since that key was ignored
	leave     struct{ n int }    // likewise since q was pressed
	answered  struct {
		id, text string
		err      error
	}
)

// askTime is what the broker is given for an answer.
const askTime = 30 * time.Second

// refresh reads what waits, once at a time.
func (m *model) refresh() tea.Cmd {
	if m.loading {
		m.again = true
		return nil
	}
	m.loading = true
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, askTime)
		defer cancel()
		rows, err := m.b.Requests(ctx)
		return rowsRead{rows, err}
	}
}

// load reads the selected request whole, what it would change, and who asks.
func (m *model) load() tea.Cmd {
	id, turn := m.selected, m.turn
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, askTime)
		defer cancel()
		d := &detail{}
		var err error
		if d.request, err = m.b.Request(ctx, id); err != nil {
			return detailRead{turn, nil, err}
		}
		if d.proposal, err = m.b.Proposal(ctx, id); err != nil {
			return detailRead{turn, nil, err}
		}
		if d.agent, err = m.b.Agent(ctx, d.request); err != nil {
			d.agent = broker.Agent{} // it may have ended meanwhile
		}
		return detailRead{turn, d, nil}
	}
}

// approve says yes to what is on the screen.
func (m *model) approve() tea.Cmd {
	r := m.shown.request
	body := brokerhttp.ApproveBody{Scope: m.scope, Digest: r.Digest}
	if m.lasting > 0 {
		body.Until = time.Now().Add(m.lasting)
	}
	m.busy, m.approving = true, false
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, askTime)
		defer cancel()
		a, err := m.b.Approve(ctx, r.ID, body)
		if err != nil {
			return answered{r.ID, "not approved: " + err.Error(), err}
		}
		return answered{r.ID, fmt.Sprintf("Approved %s for %s (%s)", a.ToolName, a.SessionID, body.Scope), nil}
	}
}

// deny says no to it.
func (m *model) deny(reason string) tea.Cmd {
	r := m.shown.request
	m.busy, m.approving = true, false
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, askTime)
		defer cancel()
		d, err := m.b.Deny(ctx, r.ID, brokerhttp.DenyBody{Reason: reason})
		if err != nil {
			return answered{r.ID, "not denied: " + err.Error(), err}
		}
		return answered{r.ID, fmt.Sprintf("Denied %s for %s", d.ToolName, d.SessionID), nil}
	}
}
