//go:build linux

package webinbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// One Chromium serves all tests, each in a context of its own: its start takes
// seconds on a machine that is busy.
var chromium struct {
	once sync.Once
	ctx  context.Context
	end  func() error
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if chromium.end != nil {
		if err := chromium.end(); err != nil {
			fmt.Fprintln(os.Stderr, "ending the browser:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// startTime is what a start of the browser may take, on a machine that has
// never read it from disk and has no core to spare.
const startTime = 3 * time.Minute

// startBrowser starts it, and once more where that failed.
func startBrowser() {
	for range 2 {
		if chromium.ctx, chromium.end, chromium.err = browserIn(); chromium.err == nil {
			return
		}
	}
}

func browserIn() (context.Context, func() error, error) {
	dir, err := os.MkdirTemp("/tmp", "pf-web-") // short, for its sockets
	if err != nil {
		return nil, nil, err
	}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("chromium"),
		chromedp.UserDataDir(filepath.Join(dir, "data")),
		chromedp.Flag("headless", "new"), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,MediaRouter,OptimizationHints"),
		chromedp.Flag("hide-scrollbars", true),
		// Nothing of the machine's: no bus, no display, no proxy.
		chromedp.NoInheritEnv, chromedp.Env("HOME="+dir, "TMPDIR="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir, "XDG_RUNTIME_DIR="+dir,
			"LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS=disabled:"),
	)...)
	ctx, stop := chromedp.NewContext(allocator)
	end := func() error {
		err := chromedp.Cancel(ctx)
		stop()
		cancel()
		chromedp.FromContext(ctx).Allocator.Wait()
		if e := os.RemoveAll(dir); err == nil {
			err = e
		}
		return err
	}
	started := make(chan error, 1)
	go func() { started <- chromedp.Do(ctx) }()
	select {
	case err = <-started:
	case <-time.After(startTime):
		err = fmt.Errorf("chromium did not start within %v", startTime)
	}
	if err != nil {
		stop()
		cancel()
		_ = os.RemoveAll(dir) // the error says more
		return nil, nil, err
	}
	return ctx, end, nil
}

// page is a browser with one tab and storage of its own.
type page struct {
	*world
	ctx context.Context
}

// browser opens an address of the world's page.
func (w *world) browser(url string) *page {
	w.Helper()
	chromium.once.Do(startBrowser)
	require.NoError(w, chromium.err, "the tests need Debian's chromium")
	ctx, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	w.Cleanup(cancel)
	p := &page{world: w, ctx: ctx}
	require.NoError(w, chromedp.Do(ctx)) // the tab lives as long as the context that made it
	p.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(url))
	return p
}

// signedIn opens the page by its link.
func (w *world) signedIn() *page {
	w.Helper()
	p := w.browser(w.srv.Link())
	p.until(`document.querySelector("#live").textContent === "Live"`)
	return p
}

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	require.NoError(p, chromedp.Do(ctx, steps...))
}

// eval is what an expression of the page is.
func eval[T any](p *page, expression string) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	require.NoError(p, err, expression)
	return v
}

// until waits for an expression to be true; while the page loads there may be
// none.
func (p *page) until(expression string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && ok {
			return
		}
		select {
		case <-ctx.Done():
			after, cancel := context.WithTimeout(p.ctx, patience)
			defer cancel()
			text, _ := chromedp.Run(after, chromedp.Evaluate[string]("document.body.innerText"))
			require.FailNow(p, "the page never came to this", "%s\nlast error: %v\n%s", expression, err, text)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// shows waits for a text to be seen.
func (p *page) shows(text string) {
	p.Helper()
	p.until(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// press presses keys, as a person does: to whatever has the focus.
func (p *page) press(keys string) {
	p.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// key presses one key as the keyboard does: unlike press, the letter is not
// written where the page has taken the key for itself.
func (p *page) key(key string) {
	p.Helper()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		for _, k := range kb.Encode([]rune(key)[0]) {
			switch k.Type {
			case kb.KeyRawDown, kb.KeyDown:
				k.Type, k.Text = kb.KeyDown, key
			case kb.KeyChar:
				continue // comes with the key, or not at all
			}
			if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, *k); err != nil {
				return err
			}
		}
		return nil
	}))
}

// pause has the page's own clock go on, so that the next key is not of the burst
// before.
func (p *page) pause() {
	p.Helper()
	p.until(`((now) => { window.pausedAt ??= now; if (now - window.pausedAt < 700) return false; delete window.pausedAt; return true; })(performance.now())`)
}

// approve chooses to approve what is shown, and does so by the pointer.
func (p *page) approve() {
	p.Helper()
	p.do(click("button.choose.approve"))
	p.give("approve")
}

// deny denies what is shown likewise, with a reason.
func (p *page) deny(reason string) {
	p.Helper()
	p.do(click("button.choose.deny"))
	if reason != "" {
		p.do(chromedp.SendKeys(chromedp.CSS("input.reason"), reason))
	}
	p.give("deny")
}

// give presses the control that gives the answer that was chosen, once it can be.
func (p *page) give(how string) {
	p.Helper()
	panel := ".panel[data-how=" + how + "]"
	p.until(`document.querySelector("` + panel + `").dataset.ready`)
	p.do(click(panel + " .give"))
}

// chord presses Enter with Ctrl, and with Shift for an approval.
func (p *page) chord(approve bool) {
	p.Helper()
	k := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13, Modifiers: 2}
	if approve {
		k.Modifiers |= 8
	}
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, input.DispatchKeyEvent, k)
		if err == nil {
			k.Type = input.DispatchKeyEventTypeKeyUp
			_, err = chromedp.Call(ctx, input.DispatchKeyEvent, k)
		}
		return err
	}))
}

// focused describes what has the focus.
func (p *page) focused() string {
	p.Helper()
	return eval[string](p, `(e => e.tagName + "." + e.className + " " + (e.textContent || e.value || ""))(document.activeElement)`)
}

// tabTo presses Tab until what has the focus matches a selector.
func (p *page) tabTo(selector string) {
	p.Helper()
	for range 100 {
		if eval[bool](p, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
		p.press("\t")
	}
	require.FailNow(p, "Tab never came to "+selector, p.focused())
}

// narrow is a phone's screen.
func (p *page) narrow() {
	p.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
}

// fits waits for nothing to be beyond the right edge: a screen that has just
// changed is laid out in more than one step.
func (p *page) fits() {
	p.Helper()
	p.until(`document.documentElement.scrollWidth <= window.innerWidth && ![...document.querySelectorAll("body *")].some(e =>
		!e.closest(".unseen, .skip, [hidden]") && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)`)
}

// problems collects what the page complains of: errors, and what its policy
// (CSP) refused.
func (p *page) problems() func() string {
	var mu sync.Mutex
	var all []string
	add := func(s string) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, s)
	}
	require.NoError(p, chromedp.Listen(p.ctx, func(ev any) {
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			add(fmt.Sprintf("%+v", ev.ExceptionDetails))
		case *runtime.EventConsoleAPICalled:
			add(string(ev.Type))
		}
	}))
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(all, "\n")
	}
}

// shoot writes a screenshot of the whole page, where PINFOLD_SHOTS names a
// directory; shootScreen one of what is on the screen.
func (p *page) shoot(name string)       { p.Helper(); p.shootAs(name, chromedp.FullScreenshot(100)) }
func (p *page) shootScreen(name string) { p.Helper(); p.shootAs(name, chromedp.CaptureScreenshot()) }

func (p *page) shootAs(name string, take chromedp.Action[[]byte]) {
	p.Helper()
	dir := os.Getenv("PINFOLD_SHOTS")
	if dir == "" {
		return
	}
	p.until("document.getAnimations().length === 0") // colours have come to their end
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, take)
	require.NoError(p, err)
	require.NoError(p, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

// dark has the page in the colours of the night.
func (p *page) dark() {
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
		})
		return err
	}))
}
