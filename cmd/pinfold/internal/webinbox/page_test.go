//go:build linux

package webinbox

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// waits is who waits for an answer elsewhere, as the agent's own call would.
func (w *world) waits(who broker.Identity, r broker.Request) <-chan broker.Request {
	ch := make(chan broker.Request, 1)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	go func() {
		defer cancel()
		got, err := w.b.Wait(ctx, who, r.ID)
		if err != nil {
			got.DenyReason = err.Error()
		}
		ch <- got
	}()
	return ch
}

func click(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(selector))
}

// TestApprove: what is wanted, why, by whom and what would change is on the
// screen; a click answers, and whoever waits goes on (D1, D9). The focus is on
// no button afterwards.
func TestApprove(t *testing.T) {
	w := newWorld(t)
	worker := w.hire("worker", "write the manual")
	r := w.ask(worker, "src/version.go", "the version stands there")
	w.propose = oneLine
	waiting := w.waits(worker, r)
	p := w.signedIn()
	complaints := p.problems()
	for _, text := range []string{"worker asks to write src/version.go", "write_file", "write the manual", "the version stands there", "+1", `+const version = "1.5.0"`, r.ID} {
		p.shows(text)
	}
	p.until(`document.title === "(1) Requests · pinfold"`)
	p.shoot("requests")
	p.dark()
	p.shoot("requests-dark")

	p.approve()
	p.shows("This was approved")
	p.shows("Nothing else waits.")
	p.until(`document.title === "Requests · pinfold"`)
	got := <-waiting
	require.Equal(t, broker.Approved, got.Status)
	require.Equal(t, broker.Once, got.Scope)
	require.Equal(t, "root", got.Resolver)
	require.NotContains(t, p.focused(), "BUTTON")
	require.Empty(t, complaints())
}

// TestDeny: the reason reaches the agent as it was typed (D14).
func TestDeny(t *testing.T) {
	w := newWorld(t)
	worker := w.hire("worker", "")
	waiting := w.waits(worker, w.ask(worker, "src/a.go", ""))
	p := w.signedIn()
	p.deny("not in this release")
	p.shows("This was denied")
	p.shows("Reason: not in this release")
	got := <-waiting
	require.Equal(t, broker.Denied, got.Status)
	require.Equal(t, "not in this release", got.DenyReason)
}

// TestScopes: an approval that reaches further, until a time, is a grant that
// can be withdrawn (D25).
func TestScopes(t *testing.T) {
	w := newWorld(t)
	worker := w.hire("worker", "")
	r := w.ask(worker, "src/a.go", "")
	p := w.signedIn()
	p.until(`document.querySelector("#lasting").disabled`)
	p.do(click("button.choose.approve"), click("input[value=subtree]"))
	p.until(`!document.querySelector("#lasting").disabled`)
	p.do(chromedp.SetValue(chromedp.CSS("#lasting"), "15"))
	p.shows("Subtree: this place and what is beneath it; 15 minutes.")
	p.give("approve")
	p.shows("Scope: subtree, until")
	got := w.status(r.ID)
	require.Equal(t, broker.Active, got.Status)
	require.Equal(t, broker.Subtree, got.Scope)
	require.Equal(t, "15m0s", got.Until.Sub(got.ResolvedAt).Round(60e9).String())

	p.do(click("nav a[href='#grants']"))
	p.shows("worker may write src/a.go")
	p.shoot("grants")
	p.do(click(".grant button"))
	p.shows("No approval is in force.")
	require.Equal(t, broker.Revoked, w.status(r.ID).Status)
}

// TestLive: what changes elsewhere is on the screen without anybody's doing,
// and what is being read is not taken away.
func TestLive(t *testing.T) {
	w := newWorld(t)
	worker := w.hire("worker", "")
	p := w.signedIn()
	p.shows("Nothing waits for your answer.")
	first := w.ask(worker, "src/first.go", "")
	p.shows("worker asks to write src/first.go")
	p.until(`document.title.startsWith("(1)")`)

	// Its agent says why, after all.
	w.ask(worker, "src/first.go", "the release needs it")
	p.until(`document.querySelector("blockquote")?.textContent === "the release needs it"`)
	p.until(`document.querySelector(".list .why").textContent === "the release needs it"`)

	// A person writes: another request, and another agent's, take nothing away.
	p.do(click("button.choose.deny"), chromedp.SendKeys(chromedp.CSS("input.reason"), "half a sen"))
	w.ask(worker, "src/second.go", "")
	other := w.hireUnder(operator, "other", "", managing)
	w.ask(other, "src/third.go", "")
	p.until(`document.querySelectorAll(".list li").length === 3`)
	require.Equal(t, "half a sen", eval[string](p, `document.activeElement.value`))
	p.shows("worker asks to write src/first.go")

	// Answered elsewhere: the form gives way to what became of it.
	_, err := w.b.Approve(t.Context(), operator, first.ID, broker.Answer{})
	require.NoError(t, err)
	p.shows("This was approved, not used yet by root")
	p.until(`!document.querySelector("button.approve") && document.querySelectorAll(".list li").length === 2`)

	// Its agent goes, and with it what it asks for.
	_, err = w.b.Fire(t.Context(), operator, "worker")
	require.NoError(t, err)
	p.until(`document.querySelectorAll(".list li").length === 1`)
	p.do(click("nav a[href='#agents']"))
	p.until(`[...document.querySelectorAll(".tree .agent")].map(e => e.textContent).join() === "other"`)
	w.hireUnder(other, "child", "below", asking)
	p.until(`document.querySelector(".tree .tree .agent").textContent === "child"`)
}

// TestAnsweredMeanwhile: an answer that comes too late says so, and changes
// nothing (D13).
func TestAnsweredMeanwhile(t *testing.T) {
	w := newWorld(t)
	r := w.ask(w.hire("worker", ""), "src/a.go", "")
	c := w.enter()
	_, err := w.b.Deny(t.Context(), operator, r.ID, "no")
	require.NoError(t, err)
	status, answer, _ := c.do("POST", "/api/requests/"+r.ID+"/approve", `{"scope": "once", "digest": "`+r.Digest+`"}`)
	require.Equal(t, 409, status)
	require.Contains(t, answer, "Already denied by root at ")
}

// TestBound: an approval is for the request that was read, and names it; what
// means nothing is refused.
func TestBound(t *testing.T) {
	w := newWorld(t)
	r := w.ask(w.hire("worker", ""), "src/a.go", "")
	c := w.enter()
	for body, why := range map[string]string{
		`{"scope": "once", "digest": "0"}`:                                      "is another one than the approval is about",
		`{"scope": "once"}`:                                                     "its digest is missing",
		`{"scope": "all", "digest": "` + r.Digest + `"}`:                        "unknown scope",
		`{"digest": "` + r.Digest + `"}`:                                        "unknown scope",
		`{"scope": "until", "digest": "` + r.Digest + `"}`:                      "the scope until needs a time",
		`{"scope": "path", "minutes": -1, "digest": "` + r.Digest + `"}`:        "lasts",
		`{"scope": "path", "minutes": 100000000, "digest": "` + r.Digest + `"}`: "lasts",
		`{"scope": "once", "digest": "` + r.Digest + `", "caller_id": "root"}`:  "unknown field",
		`{"scope": "once", "digest": "` + r.Digest + `"}{"scope": "session"}`:   "more than one value",
		"{\"scope\": \"\x00\"}":                                                 "not what is wanted",
	} {
		status, answer, _ := c.do("POST", "/api/requests/"+r.ID+"/approve", body)
		require.Equal(t, 409, status, body)
		require.Contains(t, answer, why, body)
		require.Equal(t, broker.Pending, w.status(r.ID).Status)
	}
	status, answer, _ := c.do("POST", "/api/requests/"+r.ID+"/approve", `{"scope": "path", "minutes": 1, "digest": "`+r.Digest+`"}`)
	require.Equal(t, 200, status, answer)
}

// TestManagersOwn: what another agent's manager has to answer is not in the
// list, and can be read but not answered (D19).
func TestManagersOwn(t *testing.T) {
	w := newWorld(t)
	boss := w.hireUnder(operator, "boss", "", managing)
	r := w.ask(w.hireUnder(boss, "worker", "", asking), "src/a.go", "")
	p := w.signedIn()
	p.shows("Nothing waits for your answer.")
	p.do(click("nav a[href='#agents']"))
	p.shows("1 request waits")
	p.do(chromedp.Navigate(w.origin() + "/#requests/" + r.ID))
	p.shows("This waits for the agent's own manager.")
	require.False(t, eval[bool](p, `Boolean(document.querySelector("button.approve, button.deny"))`))
	status, answer, _ := w.enter().do("POST", "/api/requests/"+r.ID+"/deny", `{}`)
	require.Equal(t, 409, status)
	require.Contains(t, answer, "Only the agent's manager can approve")
}

// TestRestart: the page goes on when the broker was started again: it says that
// nobody answers, then is live, still signed in, with what was asked meanwhile.
func TestRestart(t *testing.T) {
	w := newWorld(t)
	worker := w.hire("worker", "")
	r := w.ask(worker, "src/a.go", "")
	p := w.signedIn()
	p.shows("worker asks to write src/a.go")
	w.halt()
	p.until(`document.querySelector("#live").textContent === "Reconnecting…"`)
	p.shoot("away")
	p.approve()
	p.shows("pinfold does not answer")
	w.start("")
	p.until(`document.querySelector("#live").textContent === "Live"`)
	w.ask(worker, "src/b.go", "")
	p.until(`document.querySelectorAll(".list li").length === 2`)
	p.approve()
	p.shows("This was approved")
	require.Equal(t, broker.Approved, w.status(r.ID).Status)
}

// TestLink: a link is used up by the first browser, whose address does not hold
// the token afterwards; a used and a wrong one say what to do, and a pasted one
// lets in.
func TestLink(t *testing.T) {
	w := newWorld(t)
	link := w.srv.Link()
	p := w.signedIn()
	require.Equal(t, w.origin()+"/", eval[string](p, "location.href"))
	require.NotContains(t, eval[string](p, "document.documentElement.outerHTML + document.cookie"), w.srv.sessions.cookieName(), "no script sees the cookie")

	late := w.browser(link)
	late.shows("That link was used already, or is an old one.")
	late.shoot("door")
	late.do(chromedp.SendKeys(chromedp.CSS("#link"), "http://127.0.0.1/#nonsense"+kb.Enter))
	late.shows("That is no link of pinfold's.")
	late.do(chromedp.SendKeys(chromedp.CSS("#link"), w.srv.Link()+kb.Enter))
	late.until(`document.querySelector("#live").textContent === "Live"`)

	wrong := w.browser(w.origin() + "/#AAAAAAAAAAAAAAAAAAAAAAAAAA")
	wrong.shows("That link was used already, or is an old one.")
	nobody := w.browser(w.origin())
	nobody.shows("This browser is not signed in")

	// Signing out ends the session here and at the server.
	p.do(click("#leave"))
	p.shows("This browser is not signed in")
	p.do(chromedp.Reload())
	p.shows("This browser is not signed in")
}

// oneLine is what a request would change, in the tests.
func oneLine(_ context.Context, _ broker.Identity, id string) (brokerhttp.Proposal, error) {
	return brokerhttp.Proposal{RequestID: id, Added: 1, Removed: 1, Diff: "--- src/version.go\n+++ src/version.go\n@@ -1,5 +1,5 @@\n package main\n \n-const version = \"1.4.2\"\n+const version = \"1.5.0\"\n \n // It is printed by --version.\n"}, nil
}
