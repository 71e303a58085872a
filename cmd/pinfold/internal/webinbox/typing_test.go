//go:build linux

package webinbox

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// typist types at random into a page, in whatever state it is, and knows which
// answers somebody meant.
type typist struct {
	*page
	r      *rand.Rand
	agents int
	who    broker.Identity
	open   []broker.Request // nobody has answered them on purpose
	meant  int              // answers that were given on purpose on the page
	recent []string         // what was done last, for whoever looks for the cause
	clock  time.Time        // of the keys: pauses are made, not waited for
}

// seedOf is PINFOLD_SEED, or a new one, which is printed.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("PINFOLD_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("PINFOLD_SEED=%d types the same again", seed)
	return seed
}

// burstsOf is how many bursts are typed: the first number in CI, the second with
// PINFOLD_LONG=1.
func burstsOf(short, long int) int {
	if os.Getenv("PINFOLD_LONG") == "1" {
		return long
	}
	return short
}

func newTypist(w *world, seed uint64) *typist {
	w.propose = oneLine
	t := &typist{page: w.signedIn(), r: rand.New(rand.NewPCG(seed, 1))}
	t.next()
	return t
}

// next has another agent ask: what one may ask for in a minute is bounded.
func (t *typist) next() {
	t.agents++
	t.who = t.hire(fmt.Sprintf("worker%d", t.agents), "write the manual")
}

func (t *typist) did(format string, args ...any) {
	t.recent = append(t.recent, fmt.Sprintf(format, args...))
	if len(t.recent) > 60 {
		t.recent = t.recent[1:]
	}
}

var words = strings.Fields(`a aa yes y ok approve a1 a3 deny d no because n the jars are not ready yet jj k r t g h / ? 1 2 3 4 5
	an approval and all of it does this need a reason? docs/a.md Allow! it's fine, go on (really) ä 漢 q x o u p s w`)

// one presses one key, as the keyboard does.
func (t *typist) one(key, text string, modifiers int64) {
	codes := map[string]int64{"Enter": 13, "Tab": 9, "Backspace": 8, "Escape": 27, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
	t.clock = t.clock.Add(time.Duration(20+t.r.IntN(200)) * time.Millisecond)
	k := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Timestamp: input.TimeSinceEpoch(float64(t.clock.UnixMicro()) / 1e6), Key: key, Text: text, Modifiers: modifiers, WindowsVirtualKeyCode: codes[key]}
	if text == "" {
		k.Type = input.DispatchKeyEventTypeRawKeyDown
	}
	if len(key) > 1 {
		k.Code = key
	}
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	_, err := chromedp.Call(ctx, input.DispatchKeyEvent, k)
	require.NoError(t, err)
	if key == " " || key == "Enter" { // a button is pressed when Space is let go
		k.Type, k.Text = input.DispatchKeyEventTypeKeyUp, ""
		_, err = chromedp.Call(ctx, input.DispatchKeyEvent, k)
		require.NoError(t, err)
	}
}

// burst types something: a sentence, keys that move the focus and press what has
// it, or both. None of it is an answer.
func (t *typist) burst() {
	var said strings.Builder
	if now := time.Now(); t.clock.Before(now) {
		t.clock = now
	}
	if t.r.IntN(2) == 0 {
		said.WriteString("<pause>")
		t.clock = t.clock.Add(time.Second)
	}
	write := func(word string) {
		said.WriteString(word)
		for _, c := range word {
			t.one(string(c), string(c), 0)
		}
	}
	press := func(key, text string, modifiers int64) {
		fmt.Fprintf(&said, "<%s %d>", key, modifiers)
		t.one(key, text, modifiers)
	}
	for range 1 + t.r.IntN(5) {
		switch t.r.IntN(16) {
		case 0, 1, 2, 3, 4:
			write(words[t.r.IntN(len(words))])
		case 5, 6:
			press(" ", " ", 0)
		case 7, 8, 9:
			press("Enter", "\r", 0)
		case 10, 11:
			for range 1 + t.r.IntN(4) {
				press("Tab", "", 0)
			}
		case 12:
			press("Tab", "", 8)
		case 13:
			press([]string{"Backspace", "Escape", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"}[t.r.IntN(6)], "", 0)
		case 14: // straight to an answer, and press it
			write(string("ad"[t.r.IntN(2)]))
			for range t.r.IntN(4) {
				press("Tab", "", int64(8*t.r.IntN(2)))
			}
			press([]string{"Enter", " "}[t.r.IntN(2)], []string{"\r", " "}[t.r.IntN(2)], 0)
		case 15: // what is pasted comes without keys
			said.WriteString("<paste>")
			t.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
				_, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: "a yes\ny a "})
				return err
			}))
		}
	}
	t.did("types %q", said.String())
}

// press has the page press something that is no answer, if it is there.
func (t *typist) pressOn(selector string) {
	t.did("presses %s", selector)
	_ = eval[bool](t.page, fmt.Sprintf(`(l => { const e = l[%d %% (l.length || 1)]; e?.click(); return Boolean(e); })(document.querySelectorAll(%q))`, t.r.IntN(8), selector))
}

// change has something happen, on the page or elsewhere.
func (t *typist) change() {
	for len(t.open) < 2 || len(t.open) < 5 && t.r.IntN(4) == 0 {
		r, err := t.b.Ask(t.Context(), t.who, askFor(fmt.Sprintf("src/%d.go", t.r.Uint32())))
		if err != nil {
			t.next()
			continue
		}
		t.did("asks for %s", r.Resource)
		t.open = append(t.open, r)
	}
	switch t.r.IntN(16) {
	case 0, 1, 2:
		t.pressOn("button.choose.approve")
	case 3, 4:
		t.pressOn("button.choose.deny")
	case 5, 6:
		t.pressOn(".list a, a.next")
	case 7:
		t.pressOn("input[name=scope]")
	case 8:
		t.pressOn("nav a")
	case 9, 10:
		hash := []string{"#requests", "#requests/" + t.open[t.r.IntN(len(t.open))].ID}[t.r.IntN(2)]
		t.did("goes to %s", hash)
		_ = eval[string](t.page, fmt.Sprintf("location.hash = %q", hash))
	case 11: // somebody answers elsewhere, whatever is on the screen
		i := t.r.IntN(len(t.open))
		t.did("elsewhere %s is answered", t.open[i].Resource)
		if _, err := t.b.Deny(t.Context(), operator, t.open[i].ID, ""); err != nil {
			return // typing was faster, which unmeant finds
		}
		t.open = slices.Delete(t.open, i, i+1)
	case 12:
		if t.r.IntN(8) > 0 {
			break
		}
		width := []int{1280, 800, 390}[t.r.IntN(3)]
		t.did("width %d", width)
		t.do(chromedp.EmulateViewport(int64(width), 700))
	case 13: // an approval is chosen, and its pause is over
		if t.r.IntN(4) == 0 {
			t.pressOn("button.choose.approve")
			if eval[bool](t.page, `Boolean(document.querySelector(".panel[data-how=approve]:not([hidden])"))`) {
				t.until(`document.querySelector(".panel[data-how=approve][hidden], [data-ready], .outcome") || !document.querySelector(".panel")`)
				t.did("waits")
			}
		}
	case 14:
		if t.r.IntN(16) == 0 {
			t.answer()
		}
	}
}

// answer gives an answer on purpose, by the pointer or the keys, and types on.
func (t *typist) answer() {
	r := t.open[t.r.IntN(len(t.open))]
	t.did("approves %s on purpose", r.Resource)
	// A page that is new knows nothing of the keys' clock, which goes ahead.
	t.do(chromedp.Reload())
	t.until(`document.querySelector(".door") || document.querySelector("#live").textContent === "Live"`)
	t.inside()
	_ = eval[string](t.page, fmt.Sprintf("location.hash = %q", "#requests/"+r.ID))
	t.shows("asks to write " + r.Resource)
	if t.r.IntN(2) == 0 {
		t.approve()
	} else {
		t.do(click("button.choose.approve"))
		t.until(`document.querySelector(".panel[data-how=approve]").dataset.ready`)
		t.chord(true)
	}
	t.shows("This was approved")
	t.meant++
	t.open = slices.DeleteFunc(t.open, func(o broker.Request) bool { return o.ID == r.ID })
}

// inside signs in again, where Enter on Sign out was typed.
func (t *typist) inside() {
	if eval[bool](t.page, `document.querySelector("#nav").hidden && Boolean(document.querySelector(".door"))`) {
		t.did("signs in")
		t.do(chromedp.Navigate(t.srv.Link()))
		t.until(`document.querySelector("#live").textContent === "Live"`)
	}
}

// unmeant is the first request that was answered though nobody meant to.
func (t *typist) unmeant() string {
	for _, r := range t.open {
		if now := t.status(r.ID); now.Status != broker.Pending {
			return fmt.Sprintf("%s was %s by %s", r.Resource, now.Status, now.Resolver)
		}
	}
	return ""
}

// types types until an answer was given that nobody meant, or all of it.
func (t *typist) types(bursts int) (typed int, found string) {
	for typed < bursts {
		if t.r.IntN(2) == 0 {
			t.change()
		}
		t.burst()
		typed++
		if typed%10 == 0 {
			if found = t.unmeant(); found != "" {
				return typed, found
			}
			t.inside()
		}
	}
	return typed, t.unmeant()
}

// TestTypingAnswersNothing: whatever is typed, in whatever state the page is, no
// request is approved or denied by it. The same typing finds a page whose answer
// is a button that gets the focus, as it once was.
func TestTypingAnswersNothing(t *testing.T) {
	seed := seedOf(t)
	began := time.Now()
	ty := newTypist(newWorld(t), seed)
	typed, found := ty.types(burstsOf(1500, 10_000))
	require.Empty(t, found, "seed %d\n%s", seed, strings.Join(ty.recent, "\n"))
	ty.answer() // which does answer
	took := time.Since(began)

	control := newTypist(newWorldOf(t, answersByFocus(t)), seed)
	after, found := control.types(2000)
	require.NotEmpty(t, found, "the typing would not find an answer that typing gives")
	answersRow(t, "../../../../testdata/answers.txt", "typing", "page",
		fmt.Sprintf("%d bursts in %v, seed %d, %d answers on purpose; the control after %d bursts", typed, took.Round(time.Second), seed, ty.meant, after))
}

// answersRow prints what became of an attack of testdata/answers.txt on a surface,
// once its control was seen.
func answersRow(t *testing.T, file, key, surface, saw string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); fields[0] == key {
			fmt.Printf("[table] %s %-12s the attack %s: refused; without the guard: done (%s, uid %d)\n", fields[1], surface, fields[2], saw, os.Getuid())
			return
		}
	}
	require.FailNow(t, "no such row", key)
}

// answersByFocus is the page with its guard away: choosing an approval focuses
// the button, and whatever presses that approves.
func answersByFocus(t *testing.T) fs.FS {
	t.Helper()
	page := fstest.MapFS{}
	require.NoError(t, fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		page[name] = &fstest.MapFile{Data: data}
		return err
	}))
	for _, c := range []struct{ file, old, new string }{
		{"assets/deliberate.js", "!e.isTrusted || e.detail !== 1 || began === null", "false"},
		{"assets/deliberate.js", "!settled(began, false)", "false"},
		{"assets/deliberate.js", "panel?.how === \"approve\" && takesBack(e, panel.element)", "false"},
		{"assets/deliberate.js", "    swallow(e);\n", ""},
		{"assets/detail.js", "(approves ? says : reason).focus", "(approves ? yes : reason).focus"},
	} {
		text := string(page[c.file].Data)
		require.Contains(t, text, c.old)
		page[c.file].Data = []byte(strings.Replace(text, c.old, c.new, 1))
	}
	return page
}
