package tuiinbox

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/keyburst"
)

// model is the state of the inbox. It changes in Update alone.
type model struct {
	ctx    context.Context
	b      Broker
	width  int
	height int

	rows    []broker.Request // pending, oldest first
	listed  bool             // rows have been read once
	loading bool             // they are being read
	again   bool             // and have to be once more
	broken  string           // why the broker is not heard; "" while it is

	selected string  // the request that the screen is about; "" for none
	at       int     // where in rows it is, or was
	shown    *detail // of it, once it is there
	gone     bool    // it waits no longer
	armed    bool    // it has been on the screen for a moment
	turn     int     // counts selections, so that late news is told from new

	guard     keyburst.Guard
	ignoring  int       // counts keys that were ignored; see unignored
	ignored   bool      // keys are, and that is shown
	approving bool      // an approval is chosen, not given
	chosenAt  time.Time // when it was, or what it says changed
	leaving   int       // counts; see leave

	scope   broker.Scope
	lasting time.Duration // of the scope until
	typing  *entry        // what is being typed; nil for nothing
	busy    bool          // an answer is on its way
	args    bool          // the arguments are shown beside the difference
	scroll  int           // lines of the detail above the screen

	said    string // about the last answer; escaped
	saidBad bool

	after func(time.Duration, tea.Msg) tea.Cmd // tea.Tick
	now   func() time.Time
	pause time.Duration // see Options.Pause
}

// detail is one request with what is needed to answer it.
type detail struct {
	request  broker.Request
	proposal brokerhttp.Proposal
	agent    broker.Agent // the zero Agent where it is gone
}

var _ tea.Model = (*model)(nil)

func newModel(ctx context.Context, b Broker, pause time.Duration) *model {
	if pause <= 0 {
		pause = keyburst.Pause
	}
	after := func(d time.Duration, msg tea.Msg) tea.Cmd { return tea.Tick(d, func(time.Time) tea.Msg { return msg }) }
	return &model{ctx: ctx, b: b, width: 80, height: 24, scope: broker.Once, after: after, now: time.Now, pause: pause, guard: keyburst.Guard{Pause: pause}}
}

// Init reads nothing: the first news does.
func (m *model) Init() tea.Cmd { return nil }

// Update takes one message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 1), max(msg.Height, 1)
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.PasteMsg:
		if m.typing != nil {
			m.typing.add(msg.Content)
			m.guard.Note(m.now())
			break
		}
		return m, m.ignore()
	case changed:
		m.broken = ""
		return m, m.refresh()
	case lost:
		if m.broken == "" {
			m.broken = "the broker does not answer"
			if msg.err != nil {
				m.broken = plain(msg.err.Error())
			}
		}
	case rowsRead:
		return m, m.take(msg)
	case detailRead:
		return m, m.takeDetail(msg)
	case settled:
		m.armed = m.armed || msg.turn == m.turn
	case unignored:
		m.ignored = m.ignored && msg.n != m.ignoring
	case leave:
		if msg.n == m.leaving {
			return m, tea.Quit
		}
	case answered:
		return m, m.takeAnswer(msg)
	}
	return m, nil
}

// take takes what waits now.
func (m *model) take(msg rowsRead) tea.Cmd {
	m.loading = false
	again := m.again
	m.again = false
	var cmds []tea.Cmd
	if again {
		cmds = append(cmds, m.refresh())
	}
	if msg.err != nil {
		m.broken = plain(msg.err.Error())
		return tea.Batch(cmds...)
	}
	m.rows, m.listed, m.broken = msg.rows, true, ""
	i := slices.IndexFunc(m.rows, func(r broker.Request) bool { return r.ID == m.selected })
	switch {
	case i >= 0:
		m.at, m.gone = i, false
		cmds = append(cmds, m.load()) // its difference may be another one by now
	case m.selected != "":
		if !m.gone {
			m.guard.Ignore(m.now()) // what is being typed was meant for it
		}
		m.gone, m.typing, m.approving = true, nil, false
	case len(m.rows) > 0:
		cmds = append(cmds, m.choose(min(m.at, len(m.rows)-1)))
	}
	return tea.Batch(cmds...)
}

// takeDetail takes the request that was selected, whole. A second look keeps
// what was read: a request never changes, but what it would do may, and then
// that has to be read before it is answered.
func (m *model) takeDetail(msg detailRead) tea.Cmd {
	switch {
	case msg.turn != m.turn:
	case msg.err != nil && m.shown == nil:
		m.say(true, msg.err.Error())
	case msg.err == nil && m.shown != nil && m.shown.proposal != msg.detail.proposal:
		m.say(true, "the files have changed, and so has what it would do: read it again")
		m.shown, m.armed, m.typing, m.approving, m.scroll = msg.detail, false, nil, false, 0
		m.guard.Ignore(m.now())
		m.turn++
		return m.after(m.pause, settled{m.turn})
	case msg.err == nil:
		m.shown = msg.detail
	}
	return nil
}

// takeAnswer takes what became of an answer. The request is then read no more:
// the next one takes its place on the screen, to be read first.
func (m *model) takeAnswer(msg answered) tea.Cmd {
	m.busy = false
	m.say(msg.err != nil, msg.text)
	m.guard.Ignore(m.now())
	if msg.err == nil && msg.id == m.selected {
		m.unselect()
	}
	return m.refresh()
}

// ready reports whether the request on the screen can be answered.
func (m *model) ready() bool {
	return m.shown != nil && m.armed && !m.gone && !m.busy
}

// choose selects a row.
func (m *model) choose(i int) tea.Cmd {
	if i < 0 || i >= len(m.rows) {
		return nil
	}
	m.unselect()
	m.at, m.selected = i, m.rows[i].ID
	return tea.Batch(m.load(), m.after(m.pause, settled{m.turn}))
}

func (m *model) unselect() {
	m.turn++
	m.selected, m.shown, m.gone, m.armed, m.typing, m.approving, m.args = "", nil, false, false, nil, false, false
	m.scope, m.lasting, m.scroll = broker.Once, 0, 0
}

func (m *model) say(bad bool, text string) { m.said, m.saidBad = plain(text), bad }
