package tuiinbox

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/keyburst"
)

// fake is a broker in memory.
type fake struct {
	rows     []broker.Request
	diff     string
	approved []brokerhttp.ApproveBody
	denied   []brokerhttp.DenyBody
	ids      []string // that were answered
	err      error
}

var _ Broker = (*fake)(nil)

func (f *fake) Requests(context.Context) ([]broker.Request, error) {
	return slices.Clone(f.rows), f.err
}

func (f *fake) Request(_ context.Context, id string) (broker.Request, error) {
	for _, r := range f.rows {
		if r.ID == id {
			return r, nil
		}
	}
	return broker.Request{}, errors.New("Approval not found: " + id)
}

func (f *fake) Proposal(_ context.Context, id string) (brokerhttp.Proposal, error) {
	return brokerhttp.Proposal{RequestID: id, Diff: f.diff, Added: 1, Removed: 1}, nil
}

func (f *fake) Agent(_ context.Context, r broker.Request) (broker.Agent, error) {
	return broker.Agent{ID: r.AgentID, ParentID: "root", Cwd: "/project", Task: "write \x1b[2Jdocs"}, nil
}

func (f *fake) remove(id string) {
	f.rows = slices.DeleteFunc(f.rows, func(r broker.Request) bool { return r.ID == id })
	f.ids = append(f.ids, id)
}

func (f *fake) Approve(_ context.Context, id string, body brokerhttp.ApproveBody) (brokerhttp.Resolved, error) {
	if f.err != nil {
		return brokerhttp.Resolved{}, f.err
	}
	f.approved = append(f.approved, body)
	f.remove(id)
	return brokerhttp.Resolved{Approved: true, SessionID: "kid", ToolName: "edit_file"}, nil
}

func (f *fake) Deny(_ context.Context, id string, body brokerhttp.DenyBody) (brokerhttp.Resolved, error) {
	f.denied = append(f.denied, body)
	f.remove(id)
	return brokerhttp.Resolved{Denied: true, SessionID: "kid", ToolName: "edit_file"}, nil
}

func (f *fake) Watch(ctx context.Context, look func()) error {
	look()
	<-ctx.Done()
	return ctx.Err()
}

func request(id, place string) broker.Request {
	return broker.Request{
		ID: id, AgentID: "kid", Action: access.FSWrite, Resource: place, Tool: "edit_file", Digest: "digest of " + id,
		Input: `{"path":"` + place + `"}`, Reason: "because of " + id, CreatedAt: time.Now(),
	}
}

// inbox is a model on a fake broker. What it does for itself is done at once,
// but what waits for a moment: that is kept until settle.
type inbox struct {
	*testing.T
	*model
	f     *fake
	later []tea.Msg
	clock time.Time
	quit  bool
}

func newInbox(t *testing.T, rows ...broker.Request) *inbox {
	in := &inbox{T: t, f: &fake{rows: rows, diff: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old text\n+new text\n"}}
	in.model = newModel(t.Context(), in.f, 0)
	in.clock = time.Now()
	in.now = func() time.Time { return in.clock }
	in.after = func(_ time.Duration, msg tea.Msg) tea.Cmd {
		in.later = append(in.later, msg)
		return nil
	}
	in.send(tea.WindowSizeMsg{Width: 100, Height: 40})
	in.send(changed{})
	return in
}

func (in *inbox) send(msg tea.Msg) {
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, cmd := range batch {
			if cmd != nil {
				in.send(cmd())
			}
		}
		return
	}
	if msg == nil {
		return
	}
	if _, ends := msg.(tea.QuitMsg); ends {
		in.quit = true
		return
	}
	if _, cmd := in.Update(msg); cmd != nil {
		in.send(cmd())
	}
}

// settle is a pause.
func (in *inbox) settle() {
	in.clock = in.clock.Add(keyburst.Pause)
	msgs := in.later
	in.later = nil
	for _, msg := range msgs {
		in.send(msg)
	}
}

// slowly presses keys, each after a pause.
func (in *inbox) slowly(keys ...string) {
	for _, key := range keys {
		in.settle()
		in.press(key)
	}
	in.settle()
}

// press presses keys at once: one for each character, or those in angle brackets.
func (in *inbox) press(keys string) {
	for keys != "" {
		var msg tea.KeyPressMsg
		if name, rest, found := strings.Cut(strings.TrimPrefix(keys, "<"), ">"); keys[0] == '<' && found {
			msg.Code = map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "backspace": tea.KeyBackspace, "pgdown": tea.KeyPgDown, "tab": tea.KeyTab}[name]
			if letter, ctrl := strings.CutPrefix(name, "ctrl+"); ctrl {
				msg.Code, msg.Mod = rune(letter[0]), tea.ModCtrl
			}
			keys = rest
		} else {
			msg.Code, msg.Text = rune(keys[0]), keys[:1]
			keys = keys[1:]
		}
		in.send(msg)
	}
}

func (in *inbox) screen() string { return in.View().Content }
func (in *inbox) text() string   { return ansi.Strip(in.screen()) }

// D6, D9: everything that is asked for stands on the screen; a chooses to approve
// it, and says what that allows; a chord, after a pause, approves what was read.
func TestApprove(t *testing.T) {
	in := newInbox(t, request("r1", "src/a.go"), request("r2", "src/b.go"))
	in.settle()
	for _, want := range []string{"2 waiting", "fs.write 'src/a.go', by edit_file", "kid, child of root, in /project", `"write \x1b[2Jdocs"`, `"because of r1"`, "-old text", "+new text", "a approve…  d deny…"} {
		require.Contains(t, in.text(), want)
	}
	require.NotContains(t, in.text(), `{"path"`, "the difference says it")
	in.slowly("v")
	require.Contains(t, in.text(), `{"path":"src/a.go"}`)
	in.press("a")
	require.Contains(t, in.text(), "Approve for kid: fs.write 'src/a.go', by edit_file: this one call")
	require.NotContains(t, in.text(), "ctrl+o approves", "it has not been read yet")
	in.press("<ctrl+o>")
	require.Contains(t, in.text(), "not approved: pause")
	in.settle()
	require.Contains(t, in.text(), "ctrl+o approves")
	require.Empty(t, in.f.ids)
	in.press("<ctrl+o>")
	require.Equal(t, []string{"r1"}, in.f.ids)
	require.Equal(t, []brokerhttp.ApproveBody{{Scope: broker.Once, Digest: "digest of r1"}}, in.f.approved)
	require.Contains(t, in.text(), "Approved edit_file for kid (once)")
	require.Contains(t, in.text(), "1 waiting")
	require.Contains(t, in.text(), `"because of r2"`)
	in.slowly("<ctrl+o>")
	require.Equal(t, []string{"r1"}, in.f.ids, "nobody has chosen it")
}

// What is typed while an approval is chosen takes it back, and so does what is
// typed too soon after its scope.
func TestApprovalIsTakenBack(t *testing.T) {
	for _, keys := range []string{"x", "<enter>", "<tab>", "<esc>", "<backspace>", " ", "y", "a", "d", "ps", "pleases"} {
		in := newInbox(t, request("r1", "a"))
		in.slowly("a", keys, "<ctrl+o>", "<ctrl+x>")
		require.Empty(t, in.f.ids, "%q", keys)
		require.Equal(t, broker.Once, in.scope)
		in.slowly("<esc>", "a", "<ctrl+o>")
		require.Equal(t, []string{"r1"}, in.f.ids, "%q", keys)
	}
}

// D25: how far an approval reaches is chosen by a key, and once again for each.
func TestScopes(t *testing.T) {
	in := newInbox(t, request("r1", "a"), request("r2", "a"), request("r3", "a"), request("r4", "a"), request("r5", "a"))
	for _, c := range []struct {
		keys  []string
		says  string
		scope broker.Scope
	}{
		{[]string{"p"}, "as often as it likes", broker.Path},
		{[]string{"t"}, "all beneath it", broker.Subtree},
		{[]string{"s"}, "anywhere that it may ask for", broker.Session},
		{[]string{"p", "o"}, "this one call", broker.Once},
		{[]string{"u", "30m<enter>"}, "(30m0s)", broker.Until},
	} {
		in.slowly("a")
		require.Equal(t, broker.Once, in.scope)
		in.slowly(c.keys...)
		require.Contains(t, in.text(), c.says)
		in.press("<ctrl+o>")
		require.Equal(t, c.scope, in.f.approved[len(in.f.approved)-1].Scope)
	}
	require.WithinDuration(t, time.Now().Add(30*time.Minute), in.f.approved[4].Until, 5*time.Minute)
	require.Contains(t, in.text(), "Nothing waits for your answer.")
	in.f.rows = []broker.Request{request("r6", "a")}
	in.send(changed{})
	in.slowly("a", "u", "soon<enter>")
	require.Contains(t, in.text(), "'soon' is no time")
	require.Equal(t, broker.Once, in.scope)
}

// D10: a denial has the reason that was typed, or none; esc takes it back, and
// enter is no answer.
func TestDeny(t *testing.T) {
	in := newInbox(t, request("r1", "a"), request("r2", "b"))
	in.slowly("d")
	in.press("no, q y x<backspace>")
	require.Contains(t, in.text(), "Why not? no, q y ")
	require.Empty(t, in.f.ids, "what is typed is no key")
	in.slowly("<esc>")
	require.NotContains(t, in.text(), "Why not?")
	in.slowly("d")
	in.send(tea.PasteMsg{Content: "not\x1b[2J in\nthis release"})
	in.press("<enter>")
	in.slowly("<ctrl+o>")
	require.Contains(t, in.text(), "ctrl+x denies")
	require.Empty(t, in.f.ids)
	in.press("<ctrl+x>")
	require.Equal(t, []brokerhttp.DenyBody{{Reason: "not[2J in this release"}}, in.f.denied)
	require.Equal(t, []string{"r1"}, in.f.ids)
	in.slowly("<ctrl+x>")
	require.Contains(t, in.text(), "not denied: d asks for the reason first")
	require.Equal(t, []string{"r1"}, in.f.ids)
	in.slowly("d", "<ctrl+x>")
	require.Equal(t, brokerhttp.DenyBody{}, in.f.denied[1])
}

// q leaves once nothing else is typed: the rest of a sentence is not the shell's.
func TestLeaving(t *testing.T) {
	in := newInbox(t, request("r1", "a"))
	in.settle()
	in.press("quite bad")
	in.settle()
	require.False(t, in.quit)
	in.slowly("q")
	require.True(t, in.quit)
}

// Must show 6: neither what was typed ahead, nor what goes on of it, nor a key
// for what has gone, answers what nobody has read. A key that is ignored has the
// rest of its burst be ignored.
func TestUnreadIsNotAnswered(t *testing.T) {
	in := newInbox(t, request("r1", "a"), request("r2", "b"), request("r3", "c"))
	in.press("dthe answer is no") // before it was on the screen for a moment
	require.NotContains(t, in.text(), "Why not?")
	require.Contains(t, in.text(), "typing is ignored until you pause")
	in.press("<ctrl+x><ctrl+o>")
	require.Empty(t, in.f.ids)
	in.slowly("a")
	require.NotContains(t, in.text(), "typing is ignored")
	in.press("<ctrl+o><ctrl+o><ctrl+o>") // one answer, and two for the next, which nobody has read
	require.Equal(t, []string{"r1"}, in.f.ids)
	in.settle()
	require.Contains(t, in.text(), `"because of r2"`)

	// It is withdrawn: the selection goes nowhere by itself, and the rest of the
	// sentence to nobody.
	in.f.rows = in.f.rows[1:]
	in.slowly("d")
	in.press("n")
	in.send(changed{})
	require.Contains(t, in.text(), "It waits no longer")
	in.press("ot like this<enter>")
	in.slowly("a", "<ctrl+o>", "d", "<ctrl+x>")
	require.Equal(t, []string{"r1"}, in.f.ids)
	in.press("<down>")
	require.Contains(t, in.text(), "1 waiting")
	in.press("a<ctrl+o>")
	in.slowly("<ctrl+o>")
	require.Equal(t, []string{"r1"}, in.f.ids)
	in.slowly("a", "<ctrl+o>")
	require.Equal(t, []string{"r1", "r3"}, in.f.ids)

	// A new one does not push the one that is read aside.
	in.f.rows = []broker.Request{request("r5", "e")}
	in.send(changed{})
	in.settle()
	in.f.rows = []broker.Request{request("r4", "d"), request("r5", "e")}
	in.send(changed{})
	require.Contains(t, in.text(), `"because of r5"`)
	// What it would do has changed since it was read.
	in.slowly("a")
	in.f.diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old text\n+quite other text\n"
	in.send(changed{})
	in.press("<ctrl+o>")
	in.slowly("<ctrl+o>")
	require.Equal(t, []string{"r1", "r3"}, in.f.ids)
	require.Contains(t, in.text(), "quite other text")
	in.slowly("a", "<ctrl+o>")
	require.Equal(t, []string{"r1", "r3", "r5"}, in.f.ids)
}

// No key but the two chords answers, by itself or after any other: not what an
// escape sequence leaves when it is torn apart, nor one with Alt or eight bits.
func TestNoOtherKeyAnswers(t *testing.T) {
	for c := rune(0); c < 0x180; c++ {
		for _, mod := range []tea.KeyMod{0, tea.ModCtrl, tea.ModAlt, tea.ModCtrl | tea.ModAlt, tea.ModShift, tea.ModMeta} {
			key := tea.KeyPressMsg{Code: c, Mod: mod}
			if mod == 0 && c >= ' ' {
				key.Text = string(c)
			}
			if key.String() == approveKey || key.String() == denyKey || key.String() == "ctrl+c" {
				continue
			}
			in := newInbox(t, request("r1", "a"))
			in.slowly("a")
			in.send(key)
			in.settle()
			in.slowly("<esc>", "<esc>", "d")
			in.send(key)
			require.Empty(t, in.f.ids, key.String())
		}
	}
}

// Must show 6: nothing of what agents wrote moves the cursor, hides behind the
// edge of the screen or pushes the keys off it, however small that is.
func TestHostileText(t *testing.T) {
	evil := "\x1b[2J\x1b]0;title\x07\r\n\u202e\u009b31mAPPROVED " + strings.Repeat("wide ", 200) + "END"
	r := request("r1", evil)
	r.AgentID, r.Tool, r.Reason = "kid", evil, evil
	r.Input = evil
	r.Also = []access.Access{{Action: access.FSWrite, Resource: "ALSO " + evil}}
	in := newInbox(t, r)
	in.f.diff = "+" + evil + "\n"
	in.send(changed{})
	in.settle()
	in.slowly("v")
	in.send(tea.WindowSizeMsg{Width: 60, Height: 400})
	for _, c := range []string{"\x1b[2J", "\x1b]", "\x07", "\r", "\u202e", "\u009b"} {
		require.NotContains(t, in.screen(), c)
	}
	joined := strings.ReplaceAll(strings.ReplaceAll(in.text(), "\n", ""), " ", "")
	require.Equal(t, 6, strings.Count(joined, "END"), "resource, also, tool, reason, arguments, difference: all to their ends\n%s", in.text())
	require.Contains(t, joined, "ALSO")
	for _, size := range []tea.WindowSizeMsg{{Width: 20, Height: 10}, {Width: 36, Height: 12}, {Width: 1, Height: 1}, {Width: 0, Height: 0}, {Width: 300, Height: 3}} {
		in.send(size)
		lines := strings.Split(in.screen(), "\n")
		require.LessOrEqual(t, len(lines), max(size.Height, 1))
		for _, line := range lines {
			require.LessOrEqual(t, ansi.StringWidth(line), max(size.Width, 1))
		}
	}
}

// A long difference is scrolled, to its end and no further.
func TestScroll(t *testing.T) {
	in := newInbox(t, request("r1", "a"))
	in.f.diff = strings.Repeat("+line\n", 300) + "+the end\n"
	in.send(changed{})
	in.settle()
	in.send(tea.WindowSizeMsg{Width: 80, Height: 20})
	require.Contains(t, in.text(), "lines more below")
	require.NotContains(t, in.text(), "the end")
	for range 100 {
		in.press("<pgdown>")
	}
	require.Contains(t, in.text(), "the end")
	require.NotContains(t, in.text(), "lines more below")
	in.slowly("b")
	require.Contains(t, in.text(), "lines more below")
	in.slowly("g")
	require.Contains(t, in.text(), "Who")
}

// A broker that is away is said to be, and what is on the screen stays.
func TestBrokerAway(t *testing.T) {
	in := newInbox(t, request("r1", "a"))
	in.settle()
	in.send(lost{errors.New("gone \x1b[2J")})
	require.Contains(t, in.text(), `not connected: gone \x1b[2J`)
	require.Contains(t, in.text(), `"because of r1"`)
	in.f.err = errors.New("Already denied by root")
	in.slowly("a", "<ctrl+o>")
	require.Contains(t, in.text(), "not approved: Already denied by root")
	in.f.err = nil
	in.send(changed{})
	require.NotContains(t, in.text(), "not connected")
}
