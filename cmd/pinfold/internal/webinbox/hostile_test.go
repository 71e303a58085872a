//go:build linux

package webinbox

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// evil are strings that something is made of where they are not text.
var evil = []string{
	`<script>window.pwned=1</script>`,
	`<img src=x onerror="window.pwned=2">`,
	`"><svg onload=window.pwned=3>`,
	`javascript:window.pwned=4`,
	`{{constructor.constructor('window.pwned=5')()}}`,
	`</pre></code><iframe srcdoc="<script>parent.pwned=6</script>"></iframe>`,
	"\x1b]0;title\x07\x1b[2J\u202e\u2066gpj.exe\u200b\ufeff\u2028",
	`${window.pwned=7}`,
	`<style>*{display:none}</style><base href="https://evil.example/"><meta http-equiv=refresh content="0;url=https://evil.example/">`,
}

// TestHostileStrings: whatever an agent says is text, in every place of every
// section, and stays in its place.
func TestHostileStrings(t *testing.T) {
	w := newWorld(t)
	w.propose = func(_ context.Context, _ broker.Identity, id string) (brokerhttp.Proposal, error) {
		return brokerhttp.Proposal{RequestID: id, Diff: "+" + strings.Join(evil[:6], "\n+") + "\n", Note: evil[0], Added: 6}, nil
	}
	all := strings.Join(evil, " ")
	long := strings.Repeat("W", 3000)
	worker := w.hire("worker", all+long)
	var asked []broker.Request
	for i, s := range evil {
		asked = append(asked, w.askWith(worker, "src/"+strings.ReplaceAll(s, "/", ":")+fmt.Sprint(i), s+" "+long[:900], `{"path": `+fmt.Sprintf("%q", s)+`, "`+long+`": "`+long+`"}`))
	}
	p := w.browser(w.origin())
	complaints := p.problems()
	p.do(chromedp.Navigate(w.srv.Link()))
	harmless := func() {
		t.Helper()
		require.Equal(t, "undefined", eval[string](p, "typeof window.pwned"))
		require.Zero(t, eval[int](p, `document.querySelectorAll("main script, main img, main svg, main iframe, main style, base, meta[http-equiv], [onerror], [onload]").length`))
		require.Equal(t, w.origin(), eval[string](p, "location.origin"))
		require.Empty(t, eval[string](p, `(document.body.textContent.match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu) || []).join()`), "controls are shown escaped")
		p.fits()
	}
	p.until(fmt.Sprintf(`document.querySelectorAll(".list li").length === %d && document.querySelector("article")`, len(evil)))
	p.shows(evil[0])
	harmless()
	for i := 1; i < len(asked); i++ {
		p.key("j")
		p.until(fmt.Sprintf(`document.querySelector("article")?.innerText.includes(%q)`, asked[i].ID))
		harmless()
	}
	p.shoot("hostile")
	p.narrow()
	p.shoot("hostile-narrow")
	harmless()
	_, err := w.b.Approve(t.Context(), operator, asked[len(asked)-1].ID, broker.Answer{Scope: broker.Session})
	require.NoError(t, err)
	for _, section := range []string{"agents", "grants", "history"} {
		p.do(chromedp.Navigate(w.origin() + "/#" + section))
		p.until(`document.querySelector(".tree li, .grant, .record")`)
		harmless()
		_ = eval[int](p, `[...document.querySelectorAll("details")].map(d => d.open = true).length`)
		harmless()
	}
	require.Empty(t, complaints())
	require.NotContains(t, w.log.String(), "\x1b")
}

// TestContentPolicy: in the browser, the page's policy stops what a mistake in a
// script would let happen; the same is possible in a page without it.
func TestContentPolicy(t *testing.T) {
	w := newWorld(t)
	p := w.signedIn()
	const markup = `(() => { try { document.body.insertAdjacentHTML("beforeend", "<b id=made></b>"); return Boolean(document.getElementById("made")) } catch (e) { return e.name } })()`
	const inline = `(() => { try { const s = document.createElement("script"); s.textContent = "window.pwned = 1"; document.body.append(s) } catch (e) {} return typeof window.pwned })()`
	const frame = `(() => { const f = document.createElement("iframe"); f.id = "frame"; f.src = "/"; document.body.append(f); return "made" })()`
	require.Equal(t, "TypeError", eval[any](p, markup))
	require.Equal(t, "undefined", eval[any](p, inline))
	require.Equal(t, "made", eval[any](p, frame))
	require.False(t, eval[bool](p, `(() => { try { return Boolean(document.getElementById("frame").contentDocument?.querySelector("header")) } catch { return false } })()`))

	plain := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write([]byte("<!doctype html><title>plain</title><body>plain"))
	}))
	defer plain.Close()
	q := w.browser(plain.URL)
	q.until(`document.title === "plain"`)
	require.Equal(t, true, eval[any](q, markup))
	require.Equal(t, "number", eval[any](q, inline))
}

// TestForeignPage: a page of another origin on the same machine, in the browser
// that is signed in, sees and changes nothing; the page itself does.
func TestForeignPage(t *testing.T) {
	w := newWorld(t)
	worker := w.hire("worker", "the secret task")
	r := w.ask(worker, "src/a.go", "")
	foreign := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write([]byte("<!doctype html><title>foreign</title><body>"))
	}))
	defer foreign.Close()
	p := w.signedIn()
	p.do(chromedp.Navigate(foreign.URL))
	p.until(`document.title === "foreign"`)
	approve := w.origin() + "/api/requests/" + r.ID + "/approve"
	attempts := fmt.Sprintf(`(async () => {
		const seen = [];
		const attempt = async (name, url, init) => {
			try { const a = await fetch(url, {credentials: "include", ...init}); seen.push(name + " " + a.type + " " + a.status + " " + (await a.text())); } catch (e) { seen.push(name + " refused"); }
		};
		const body = JSON.stringify({scope: "once", digest: %q});
		await attempt("simple", %q, {method: "POST", body, headers: {"Content-Type": "text/plain"}, mode: "no-cors"});
		await attempt("json", %q, {method: "POST", body, headers: {"Content-Type": "application/json", "X-Pinfold-Key": "x"}});
		await attempt("read", %q, {});
		await attempt("blind", %q, {mode: "no-cors"});
		await new Promise(done => { const s = document.createElement("script"); s.src = %q; s.onload = () => { seen.push("script loaded"); done(); }; s.onerror = () => { seen.push("script refused"); done(); }; document.body.append(s); });
		await new Promise(done => { const e = new EventSource(%q, {withCredentials: true}); e.onerror = () => { seen.push("events refused"); e.close(); done(); }; e.addEventListener("here", () => { seen.push("events open"); e.close(); done(); }); });
		return seen.join("\n");
	})()`, r.Digest, approve, approve, w.origin()+"/api/requests", w.origin()+"/api/requests", w.origin()+"/api/agents", w.origin()+"/api/events")
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	seen, err := chromedp.Run(ctx, chromedp.Evaluate[string](attempts, chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	require.NotContains(t, seen, "secret task")
	require.Equal(t, "simple refused\njson refused\nread refused\nblind refused\nscript refused\nevents refused", seen)
	require.Contains(t, w.log.String(), "why=origin", "it was the server that refused")
	require.Equal(t, broker.Pending, w.status(r.ID).Status)

	// A form is sent with the cookie by a page of the same site, and refused.
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[any](fmt.Sprintf(`(() => { const f = document.createElement("form"); f.method = "POST"; f.action = %q; document.body.append(f); f.submit(); return 1 })()`, approve)))
		return err
	}))
	p.until(`location.href.endsWith("/approve")`)
	p.shows("this was sent by another page")
	require.Equal(t, broker.Pending, w.status(r.ID).Status)

	p.do(chromedp.Navigate(w.origin() + "/"))
	p.shows("worker asks to write src/a.go")
	p.approve()
	p.shows("This was approved")
}

// TestRebound: a name that leads to this machine's address is refused in a real
// browser too.
func TestRebound(t *testing.T) {
	w := newWorld(t)
	p := w.browser(strings.Replace(w.origin(), "127.0.0.1", "rebound.localhost", 1) + "/")
	p.shows("by no other name")
	q := w.browser(strings.Replace(w.origin(), "127.0.0.1", "localhost", 1) + "/")
	q.shows("This browser is not signed in")
}
