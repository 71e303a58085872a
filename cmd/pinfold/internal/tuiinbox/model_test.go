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

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/permission"
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

func (f *fake) Approve(_ context.Context, id string, body brokerhttp.ApproveBody) (brokerhttp.Approved, error) {
	if f.err != nil {
		return brokerhttp.Approved{}, f.err
	}
	f.approved = append(f.approved, body)
	f.remove(id)
	return brokerhttp.Approved{Approved: true, SessionID: "kid", ToolName: "edit_file"}, nil
}

func (f *fake) Deny(_ context.Context, id string, body brokerhttp.DenyBody) (brokerhttp.Denied, error) {
	f.denied = append(f.denied, body)
	f.remove(id)
	return brokerhttp.Denied{Denied: true, SessionID: "kid", ToolName: "edit_file"}, nil
}

func (f *fake) Watch(ctx context.Context, look func()) error {
	look()
	<-ctx.Done()
	return ctx.Err()
}

func request(id, place string) broker.Request {
	return broker.Request{
		ID: id, AgentID: "kid", Action: permission.FSWrite, Resource: place, Tool: "edit_file", Digest: "digest of " + id,
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
}

func newInbox(t *testing.T, rows ...broker.Request) *inbox {
	in := &inbox{T: t, f: &fake{rows: rows, diff: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old text\n+new text\n"}}
	in.model = newModel(t.Context(), in.f)
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
	if _, cmd := in.Update(msg); cmd != nil {
		in.send(cmd())
	}
}

func (in *inbox) settle() {
	msgs := in.later
	in.later = nil
	for _, msg := range msgs {
		in.send(msg)
	}
}

// press presses keys: one for each character, or those in angle brackets.
func (in *inbox) press(keys string) {
	for keys != "" {
		var msg tea.KeyPressMsg
		if name, rest, found := strings.Cut(strings.TrimPrefix(keys, "<"), ">"); keys[0] == '<' && found {
			msg.Code = map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "backspace": tea.KeyBackspace, "pgdown": tea.KeyPgDown}[name]
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

// D6, D9: everything that is asked for stands on the screen, and y approves what
// was read.
func TestApprove(t *testing.T) {
	in := newInbox(t, request("r1", "src/a.go"), request("r2", "src/b.go"))
	in.settle()
	for _, want := range []string{"2 waiting", "fs.write 'src/a.go', by edit_file", "kid, report of root, in /project", `"write \x1b[2Jdocs"`, `"because of r1"`, "-old text", "+new text", "y approves: this one call", "n deny"} {
		require.Contains(t, in.text(), want)
	}
	require.NotContains(t, in.text(), `{"path"`, "the difference says it")
	in.press("a")
	require.Contains(t, in.text(), `{"path":"src/a.go"}`)
	in.press("y")
	require.Equal(t, []string{"r1"}, in.f.ids)
	require.Equal(t, []brokerhttp.ApproveBody{{Scope: broker.Once, Digest: "digest of r1"}}, in.f.approved)
	require.Contains(t, in.text(), "Approved edit_file for kid (once)")
	require.Contains(t, in.text(), "1 waiting")
	require.Contains(t, in.text(), `"because of r2"`)
}

// D25: how far an approval reaches is chosen by a key, and once again for each.
func TestScopes(t *testing.T) {
	in := newInbox(t, request("r1", "a"), request("r2", "a"), request("r3", "a"), request("r4", "a"), request("r5", "a"))
	for _, c := range []struct {
		keys, says string
		scope      broker.Scope
	}{{"p", "as often as it likes", broker.Path}, {"t", "all beneath it", broker.Subtree}, {"s", "anywhere that it may ask for", broker.Session}, {"po", "this one call", broker.Once}, {"u30m<enter>", "(30m0s)", broker.Until}} {
		in.settle()
		require.Equal(t, broker.Once, in.scope)
		in.press(c.keys)
		require.Contains(t, in.text(), c.says)
		in.press("y")
		require.Equal(t, c.scope, in.f.approved[len(in.f.approved)-1].Scope)
	}
	require.WithinDuration(t, time.Now().Add(30*time.Minute), in.f.approved[4].Until, 5*time.Minute)
	require.Contains(t, in.text(), "Nothing waits for your answer.")
	in.f.rows = []broker.Request{request("r6", "a")}
	in.send(changed{})
	in.settle()
	in.press("usoon<enter>")
	require.Contains(t, in.text(), "'soon' is no time")
	require.Equal(t, broker.Once, in.scope)
}

// D10: a denial has the reason that was typed, or none; esc takes it back.
func TestDeny(t *testing.T) {
	in := newInbox(t, request("r1", "a"), request("r2", "b"))
	in.settle()
	in.press("nno, q y x<backspace>")
	require.Contains(t, in.text(), "Why not? no, q y ")
	require.Empty(t, in.f.ids, "what is typed is no key")
	in.press("<esc>")
	require.NotContains(t, in.text(), "Why not?")
	in.press("n")
	in.send(tea.PasteMsg{Content: "not\x1b[2J in\nthis release"})
	in.press("<enter>")
	require.Equal(t, []brokerhttp.DenyBody{{Reason: "not[2J in this release"}}, in.f.denied)
	require.Equal(t, []string{"r1"}, in.f.ids)
	in.settle()
	in.press("n<enter>")
	require.Equal(t, brokerhttp.DenyBody{}, in.f.denied[1])
}

// Must show 6: neither what was typed ahead, nor a second press, nor a key for
// what has gone, answers what nobody has read.
func TestUnreadIsNotAnswered(t *testing.T) {
	in := newInbox(t, request("r1", "a"), request("r2", "b"), request("r3", "c"))
	in.press("yyn<enter>y") // before it was on the screen for a moment
	require.Empty(t, in.f.ids)
	require.NotContains(t, in.text(), "y approves")
	in.settle()
	in.press("yyyy") // one answer, and three for the next, which nobody has read
	require.Equal(t, []string{"r1"}, in.f.ids)
	in.settle()
	require.Contains(t, in.text(), `"because of r2"`)

	// It is withdrawn: the selection goes nowhere by itself.
	in.f.rows = in.f.rows[1:]
	in.press("n") // while a reason is typed
	in.send(changed{})
	require.Contains(t, in.text(), "It waits no longer")
	in.press("<enter>yy")
	require.Equal(t, []string{"r1"}, in.f.ids)
	in.press("j")
	require.Contains(t, in.text(), "1 waiting")
	in.press("y")
	require.Equal(t, []string{"r1"}, in.f.ids)
	in.settle()
	in.press("y")
	require.Equal(t, []string{"r1", "r3"}, in.f.ids)

	// A new one does not push the one that is read aside.
	in.f.rows = []broker.Request{request("r5", "e")}
	in.send(changed{})
	in.settle()
	in.f.rows = []broker.Request{request("r4", "d"), request("r5", "e")}
	in.send(changed{})
	require.Contains(t, in.text(), `"because of r5"`)
	// What it would do has changed since it was read.
	in.f.diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old text\n+quite other text\n"
	in.send(changed{})
	in.press("y")
	require.Equal(t, []string{"r1", "r3"}, in.f.ids)
	require.Contains(t, in.text(), "read it again")
	require.Contains(t, in.text(), "quite other text")
	in.settle()
	in.press("y")
	require.Equal(t, []string{"r1", "r3", "r5"}, in.f.ids)
}

// Must show 6: nothing of what agents wrote moves the cursor, hides behind the
// edge of the screen or pushes the keys off it, however small that is.
func TestHostileText(t *testing.T) {
	evil := "\x1b[2J\x1b]0;title\x07\r\n\u202e\u009b31mAPPROVED " + strings.Repeat("wide ", 200) + "END"
	r := request("r1", evil)
	r.AgentID, r.Tool, r.Reason = "kid", evil, evil
	r.Input = evil
	r.Also = []permission.Access{{Action: permission.FSWrite, Resource: "ALSO " + evil}}
	in := newInbox(t, r)
	in.f.diff = "+" + evil + "\n"
	in.send(changed{})
	in.settle()
	in.press("a")
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
	in.press("b")
	require.Contains(t, in.text(), "lines more below")
	in.press("g")
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
	in.press("y")
	require.Contains(t, in.text(), "not approved: Already denied by root")
	in.f.err = nil
	in.send(changed{})
	require.NotContains(t, in.text(), "not connected")
}
