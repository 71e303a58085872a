//go:build linux

package webinbox

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// TestKeyboardOnly: everything is done by keys alone, and no key by itself
// answers anything.
func TestKeyboardOnly(t *testing.T) {
	w := newWorld(t)
	worker := w.hire("worker", "")
	first, second := w.ask(worker, "src/first.go", ""), w.ask(worker, "src/second.go", "")
	third := w.ask(worker, "src/third.go", "")
	p := w.signedIn()
	p.shows("worker asks to write src/first.go")

	p.pause()
	p.key("j")
	p.shows("worker asks to write src/second.go")
	p.until(`document.activeElement.id === "what"`) // its heading, to be read out
	p.pause()
	p.key("a")
	p.until(`document.activeElement.matches(".panel .says")`) // what it would do, to be read out
	p.shows("worker may write src/second.go.")
	p.pause()
	p.key("3")
	p.until(`document.querySelector("input[value=subtree]").checked`)
	p.shows("Subtree: this place and what is beneath it")
	p.shoot("keyboard")
	p.until(`document.querySelector(".panel[data-how=approve]").dataset.ready`)
	p.chord(false) // the chord of a denial
	require.Equal(t, broker.Pending, w.status(second.ID).Status)
	p.chord(true)
	p.shows("This was approved")
	require.Equal(t, broker.Subtree, w.status(second.ID).Scope)

	// Enter once more goes to the next request, and answers nothing; nor does the
	// chord, for what nobody has chosen to approve.
	p.until(`document.activeElement.matches("a.next")`)
	p.chord(true)
	p.press(kb.Enter)
	p.shows("worker asks to write src/first.go")
	p.until(`document.activeElement.id === "what"`)
	p.press(kb.Enter)
	p.chord(true)
	p.pause()
	p.key("d")
	p.until(`document.activeElement.matches("input.reason")`)
	p.press("adjust 3 k" + kb.Enter) // letters in a field are letters
	p.chord(true)
	p.shows("Not denied yet")
	require.Equal(t, "adjust 3 k", eval[string](p, `document.activeElement.value`))
	require.Equal(t, broker.Pending, w.status(first.ID).Status)
	p.chord(false)
	p.shows("This was denied")
	require.Equal(t, "adjust 3 k", w.status(first.ID).DenyReason)

	// By Tab alone, without any of the single keys.
	p.until(`document.activeElement.matches("a.next")`)
	p.pause()
	p.press(kb.Enter)
	p.shows("worker asks to write src/third.go")
	p.until(`document.activeElement.id === "what"`)
	p.tabTo("button.choose.approve")
	p.pause()
	p.press(kb.Enter)
	p.until(`document.activeElement.matches(".panel .says")`)
	p.tabTo("input[name=scope]")
	p.press(kb.ArrowDown)
	p.until(`document.querySelector("input[value=path]").checked`)
	p.tabTo("#lasting")
	p.tabTo(".panel .back-out") // Cancel, and never the answer itself
	p.until(`document.querySelector(".panel[data-how=approve]").dataset.ready`)
	require.Equal(t, broker.Pending, w.status(third.ID).Status)
	p.chord(true)
	p.shows("Nothing else waits.")
	require.Equal(t, broker.Path, w.status(third.ID).Scope)
}

// TestKeysOfThePage: sections and help have keys; they can be switched off.
func TestKeysOfThePage(t *testing.T) {
	w := newWorld(t)
	w.hire("worker", "write the manual")
	p := w.signedIn()
	for key, heading := range map[string]string{"t": "Agents", "g": "Grants", "h": "History", "r": "Waiting for you"} {
		p.pause()
		p.key(key)
		p.until(`document.querySelector("main h1").textContent === "` + heading + `"`)
	}
	p.pause()
	p.key("/")
	p.until(`document.activeElement.id === "q"`)
	p.press("hire" + kb.Enter)
	p.until(`document.querySelectorAll(".record").length === 1`)
	p.press(kb.Escape)
	p.until(`document.activeElement === document.body`)
	p.pause()
	p.key("?")
	p.until(`document.querySelector("#keys").open`)
	p.shoot("keys")
	p.pause()
	p.tabTo("#keys-on")
	p.press(" ")
	p.press(kb.Escape)
	p.until(`!document.querySelector("#keys").open`)
	p.pause()
	p.key("r")
	require.Equal(t, "History", eval[string](p, `document.querySelector("main h1").textContent`))
	p.pause()
	p.tabTo("a[href='#agents']")
	p.press(kb.Enter)
	p.until(`document.querySelector("main h1").textContent === "Agents"`)
	p.pause()
	p.tabTo("summary")
	p.press(kb.Enter)
	p.shows("agent:worker:main")
}
