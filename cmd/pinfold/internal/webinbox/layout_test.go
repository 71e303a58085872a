//go:build linux

package webinbox

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// family is a tree of agents at work.
func (w *world) family() {
	w.Helper()
	boss := w.hireUnder(operator, "release", "cut release 1.5: notes, version, tag", managing)
	notes := w.hireUnder(boss, "notes-writer", "write the release notes from the merged changes", asking)
	w.hireUnder(boss, "reviewer", "read what the others wrote, and say what is missing", asking)
	w.ask(notes, "src/changelog.go", "the list of changes is generated there")
	docs := w.hire("docs", "bring the manual up to date with the command line")
	r := w.ask(docs, "src/old.go", "")
	_, err := w.b.Deny(w.Context(), operator, r.ID, "generated: change the template")
	require.NoError(w, err)
	r = w.ask(docs, "src/help.go", "the help texts are what the manual quotes")
	_, err = w.b.Approve(w.Context(), operator, r.ID, broker.Answer{Scope: broker.Path})
	require.NoError(w, err)
	w.ask(docs, "src/version.go", "the manual names the version, and the constant is behind")
	w.ask(docs, "src/flags.go", "two flags have no description")
}

// TestNarrow: on a phone's screen nothing is beyond the edge, in any section;
// the list and what is chosen take turns.
func TestNarrow(t *testing.T) {
	w := newWorld(t)
	w.propose = oneLine
	w.family()
	p := w.signedIn()
	p.narrow()
	p.do(chromedp.Navigate(w.origin() + "/#grants")) // away, so that nothing is chosen
	p.shows("docs may write src/help.go")
	p.fits()
	p.do(chromedp.Navigate(w.origin() + "/#requests"))
	p.until(`document.querySelectorAll(".list li").length === 2`)
	p.fits()
	p.shoot("narrow-list")
	p.do(click(".list li a"))
	p.shows("docs asks to write src/version.go")
	p.until(`getComputedStyle(document.querySelector(".side")).display === "none"`)
	p.fits()
	p.shootScreen("narrow")
	small := eval[string](p, `[...document.querySelectorAll("article button, article input.reason, nav a")].filter(e => e.offsetParent && e.getBoundingClientRect().height < 36).map(e => e.textContent).join()`)
	require.Empty(t, small, "a finger hits them")
	p.do(click(".back a"))
	p.until(`document.querySelectorAll(".list li").length === 2 && getComputedStyle(document.querySelector(".side")).display !== "none"`)
	for section, there := range map[string]string{"agents": ".tree .tree .agent", "history": ".record"} {
		p.do(chromedp.Navigate(w.origin() + "/#" + section))
		p.until(fmt.Sprintf("document.querySelector(%q)", there))
		p.fits()
		p.shoot("narrow-" + section)
	}
}

// TestAnswersInSight: on a desk, on a small window and on a phone the two answers
// are on the screen without scrolling in either direction, however long the
// request is; so is what gives the one that is chosen.
func TestAnswersInSight(t *testing.T) {
	w := newWorld(t)
	w.propose = func(_ context.Context, _ broker.Identity, id string) (brokerhttp.Proposal, error) {
		return brokerhttp.Proposal{RequestID: id, Diff: "--- src/a.go\n+++ src/a.go\n@@ -1 +1,300 @@\n" + strings.Repeat("+one more line\n", 300), Added: 300, Removed: 1}, nil
	}
	worker := w.hire("worker", strings.Repeat("write the manual, and then the other manual; ", 20))
	w.ask(worker, "src/version.go", "the manual names the version, and the constant is behind")
	w.ask(worker, "src/"+strings.Repeat("deep/", 200)+strings.Repeat("x", 255)+".go", strings.Repeat("because ", 100))
	const inSight = `[...document.querySelectorAll(".answers button")].filter(e => e.offsetParent).filter(e => {
		const r = e.getBoundingClientRect();
		const at = document.elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2);
		return r.width > 40 && r.height >= 36 && r.left >= 0 && r.top >= 0 && r.right <= window.innerWidth && r.bottom <= window.innerHeight && e.contains(at);
	}).map(e => e.textContent).join()`
	p := w.signedIn()
	for _, size := range []struct{ width, height int64 }{{1280, 800}, {800, 600}, {390, 844}, {360, 640}} {
		if size.width < 600 {
			p.do(chromedp.EmulateViewport(size.width, size.height, chromedp.EmulateMobile, chromedp.EmulateTouch))
		} else {
			p.do(chromedp.EmulateViewport(size.width, size.height))
		}
		for i, r := range []string{"version.go", "xxx.go"} {
			p.do(chromedp.Navigate(w.origin() + "/#requests"))
			p.until(`document.querySelectorAll(".list li").length === 2`)
			_ = eval[bool](p, fmt.Sprintf(`(document.querySelectorAll(".list a")[%d].click(), true)`, i))
			p.until(fmt.Sprintf(`document.querySelector("h2 code")?.textContent.includes(%q)`, r))
			_ = eval[bool](p, `(window.scrollTo(0, 0), true)`)
			p.until(inSight + ` === "Approve…,Deny…"`)
			p.fits()
			name := fmt.Sprintf("requests-%d-%d", size.width, i)
			p.shootScreen(name)
			for how, want := range map[string]string{"approve": "Cancel,Approve", "deny": "Cancel,Deny"} {
				_ = eval[bool](p, `(document.querySelector("button.choose.`+how+`").click(), true)`)
				p.until(inSight + ` === "` + want + `"`)
				p.fits()
				p.until(`document.querySelector(".panel[data-how=` + how + `]").dataset.ready`)
				p.shootScreen(name + "-" + how)
				_ = eval[bool](p, `([...document.querySelectorAll(".back-out")].find(e => e.offsetParent).click(), true)`)
				p.until(inSight + ` === "Approve…,Deny…"`)
			}
		}
	}
}

// TestSections are looked at with agents at work.
func TestSections(t *testing.T) {
	w := newWorld(t)
	w.family()
	p := w.signedIn()
	p.key("t")
	p.until(`document.querySelectorAll(".tree .agent").length === 4`)
	require.Equal(t, "release", eval[string](p, `document.querySelector(".tree .tree .agent").closest("ul").closest("li").querySelector(".agent").textContent`))
	p.shows("1 request waits")
	p.shows("2 requests wait")
	_ = eval[bool](p, `document.querySelector("details").open = true`)
	p.shoot("agents")
	p.pause()
	p.key("h")
	p.until(`document.querySelectorAll(".record").length > 5`)
	p.shoot("history")
}

// TestLongDiff: what would change is shown as far as it came, and says where it
// was cut; no line is hidden beyond the edge, and the answers are reached.
func TestLongDiff(t *testing.T) {
	w := newWorld(t)
	var b strings.Builder
	b.WriteString("--- src/a.go\n+++ src/a.go\n@@ -1 +1,3000 @@\n")
	for i := range 1500 {
		fmt.Fprintf(&b, "+line %d %s\n", i, strings.Repeat("x", i%400))
	}
	w.propose = func(_ context.Context, _ broker.Identity, id string) (brokerhttp.Proposal, error) {
		return brokerhttp.Proposal{RequestID: id, Diff: b.String() + "… (cut)\n", Added: 3000, Removed: 1, Cut: true}, nil
	}
	worker := w.hire("worker", "")
	r := w.askWith(worker, "src/a.go", "", `{"path": "src/a.go", "content": "`+strings.Repeat("y", 200_000)+`"}`)
	p := w.signedIn()
	p.shows("The diff goes on: this is only its beginning.")
	p.until(`document.querySelectorAll(".diff .add").length === 1500`)
	p.shows("+3000")
	p.fits()
	p.until(`[...document.querySelectorAll("pre")].every(e => e.scrollWidth <= e.clientWidth)`)
	p.narrow()
	p.fits()
	p.until(`[...document.querySelectorAll("pre")].every(e => e.scrollWidth <= e.clientWidth)`)
	require.Equal(t, 200_000, eval[int](p, `document.querySelector("pre.arguments").textContent.match(/y+/g).reduce((n, s) => Math.max(n, s.length), 0)`))
	p.approve()
	p.shows("This was approved")
	require.Equal(t, broker.Approved, w.status(r.ID).Status)
}

// TestContrast: text stands out from what is behind it as WCAG AA asks for
// (4.5:1), by day and by night.
func TestContrast(t *testing.T) {
	w := newWorld(t)
	w.propose = oneLine
	w.family()
	p := w.signedIn()
	const weak = `(() => {
		const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length === 3 ? [...m, 1] : m; };
		const lum = ([r, g, b]) => { const f = v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }; return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
		const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
		const bad = [];
		for (const e of document.querySelectorAll("body *")) {
			if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || e.closest(".unseen, .skip, :disabled, [hidden], dialog, noscript") || e.tagName === "OPTION") continue;
			const a = lum(parse(getComputedStyle(e).color)), b = lum(behind(e));
			const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
			if (ratio < 4.5) bad.push(e.tagName + "." + e.className + " " + ratio.toFixed(2));
		}
		return [...new Set(bad)].join("\n");
	})()`
	for _, night := range []bool{false, true} {
		if night {
			p.dark()
		}
		for section, there := range map[string]string{"requests": ".diff .add", "agents": ".tree li", "grants": ".grant", "history": ".record"} {
			p.do(chromedp.Navigate(w.origin() + "/#" + section))
			p.until(fmt.Sprintf("document.querySelector(%q)", there))
			// Colours that fade in have come to their end.
			p.until(`document.getAnimations().length === 0`)
			require.Empty(t, eval[string](p, weak), "%s, night: %v", section, night)
		}
	}
}
