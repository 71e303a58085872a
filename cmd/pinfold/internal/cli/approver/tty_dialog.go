package approver

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/keyburst"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// ttyDialog is one question on a terminal on which somebody may be typing to the
// command when it comes. What is typed is never an answer: a letter, as the first
// key of a burst, chooses one, and a chord that no text contains gives it.
type ttyDialog struct {
	out   io.Writer
	r     broker.Request
	guard keyburst.Guard

	chosen   byte         // 'a' to approve, 'd' to deny; 0 for nothing
	scope    broker.Scope // of an approval
	chosenAt time.Time    // when the approval was chosen, or its scope
	reason   []rune       // of a denial
	ignoring bool         // that keys are ignored has been said
}

// The keys of the dialog that are not text, by name.
const (
	keyGiveYes = "ctrl+o"
	keyGiveNo  = "ctrl+x"
	keyEscape  = "esc"
	keyErase   = "backspace"
	keyClear   = "ctrl+u"
	keyOther   = "other"
)

// maxTTYReason bounds a reason, in characters; the broker takes as many.
const maxTTYReason = 1000

// ttyScopes are the keys of the scopes that can be chosen here, and their words.
var ttyScopes = []struct {
	key, words string
	scope      broker.Scope
}{
	{"o", "this once", broker.Once}, {"p", "this path, as often as it likes", broker.Path},
	{"t", "this path and what is beneath it, as often as it likes", broker.Subtree},
	{"s", "the same operation anywhere that may be asked for", broker.Session},
}

const ttyChoose = "Press a to approve, d to deny; Ctrl-X leaves it for later. What you type otherwise is ignored, and is no answer.\n"

// newTTYDialog asks. What is being typed at now is not meant for it.
func newTTYDialog(out io.Writer, r broker.Request, now time.Time) *ttyDialog {
	d := &ttyDialog{out: out, r: r}
	d.guard.Ignore(now)
	d.say(ttyChoose)
	return d
}

func (d *ttyDialog) say(format string, args ...any) { _, _ = fmt.Fprintf(d.out, format, args...) }

// take takes what was typed, and says whether that ends the dialog.
func (d *ttyDialog) take(now time.Time, typed []byte) (v decision, done bool) {
	keys := ttyKeys(typed)
	for _, key := range keys {
		if v, done = d.key(now, key, len(keys) == 1); done {
			return v, true
		}
	}
	return decision{}, false
}

// key takes one key. alone says that nothing came with it.
func (d *ttyDialog) key(now time.Time, key string, alone bool) (v decision, done bool) {
	switch {
	case key == keyGiveYes:
		return d.give(now, alone)
	case key == keyGiveNo && d.chosen == 'd':
		d.say("\npinfold: denied\n")
		return decision{effect: access.Deny, reason: strings.TrimSpace(string(d.reason))}, true
	case key == keyGiveNo && d.chosen == 0:
		d.say("pinfold: left: 'pinfold approve %s' in another terminal allows it\n", d.r.ID)
		return decision{}, true
	case d.chosen == 'd':
		d.guard.Note(now)
		d.edit(now, key)
		return decision{}, false
	}
	if !d.guard.Key(now, key) {
		d.ignore(now)
		return decision{}, false
	}
	d.ignoring = false
	if d.chosen == 'a' {
		d.reach(now, key)
		return decision{}, false
	}
	switch key {
	case "a":
		d.chosen = 'a'
		d.reach(now, "o")
	case "d":
		d.chosen, d.reason = 'd', nil
		d.say("Ctrl-X denies, Esc takes it back. Why not? ")
	default:
		d.ignore(now)
	}
	return decision{}, false
}

// give approves, if that was chosen and shown, and nothing was typed for a pause.
func (d *ttyDialog) give(now time.Time, alone bool) (decision, bool) {
	if d.chosen == 'a' && alone && d.guard.Quiet(now) && now.Sub(d.chosenAt) >= keyburst.Pause {
		d.say("pinfold: approved\n")
		return decision{effect: access.Allow, answer: broker.Answer{Scope: d.scope}}, true
	}
	if d.chosen == 'a' {
		d.say("pinfold: not approved: pause, then press Ctrl-O once more\n")
	}
	d.guard.Ignore(now)
	return decision{}, false
}

// reach takes how far an approval reaches; any other key takes it back.
func (d *ttyDialog) reach(now time.Time, key string) {
	for _, s := range ttyScopes {
		if s.key == key {
			d.scope, d.chosenAt = s.scope, now
			d.say("Approve for %s: %s '%s', %s? Ctrl-O approves; o p t s choose how far; any other key takes it back.\n",
				pathresolver.EscapePath(d.r.AgentID), pathresolver.EscapePath(string(d.r.Action)), pathresolver.EscapePath(d.r.Resource), s.words)
			return
		}
	}
	d.back(now)
}

// back takes back what was chosen.
func (d *ttyDialog) back(now time.Time) {
	d.chosen = 0
	d.guard.Ignore(now)
	d.say("pinfold: not answered yet\n" + ttyChoose)
}

// ignore has what is typed be ignored until there is a pause.
func (d *ttyDialog) ignore(now time.Time) {
	if d.chosen == 'a' {
		d.back(now)
	}
	d.guard.Ignore(now)
	if !d.ignoring {
		d.say("pinfold: typing is ignored until you pause\n")
	}
	d.ignoring = true
}

// edit takes a key of the reason.
func (d *ttyDialog) edit(now time.Time, key string) {
	switch {
	case key == keyEscape:
		d.say("\n")
		d.back(now)
	case key == keyErase && len(d.reason) > 0:
		d.reason = d.reason[:len(d.reason)-1]
		d.say("\rWhy not? %s\x1b[K", string(d.reason))
	case key == keyClear:
		d.reason = nil
		d.say("\rWhy not? \x1b[K")
	case utf8.RuneCountInString(key) == 1 && len(d.reason) < maxTTYReason:
		d.reason = append(d.reason, []rune(key)...)
		d.say("%s", key)
	}
}

// ttyKeys are the keys that bytes of a terminal stand for: a printable character
// is itself. Of an escape sequence the first is keyOther, and nothing is left over.
func ttyKeys(typed []byte) (keys []string) {
	for len(typed) > 0 {
		key, n := ttyKey(typed)
		keys, typed = append(keys, key), typed[n:]
	}
	return keys
}

func ttyKey(typed []byte) (key string, length int) {
	c, n := utf8.DecodeRune(typed)
	switch {
	case c == 0x1b:
		return ttySequence(typed)
	case c == 0x0f:
		return keyGiveYes, 1
	case c == 0x18:
		return keyGiveNo, 1
	case c == 0x7f || c == '\b':
		return keyErase, 1
	case c == 0x15:
		return keyClear, 1
	case c != utf8.RuneError && unicode.IsPrint(c):
		return string(c), n
	}
	return keyOther, n
}

// ttySequence is what begins with Escape (ECMA-48, 5.4). Escape alone is a key.
func ttySequence(typed []byte) (key string, length int) {
	switch {
	case len(typed) == 1:
		return keyEscape, 1
	case typed[1] == '[':
		if end := slices.IndexFunc(typed[2:], func(c byte) bool { return c >= 0x40 && c <= 0x7e }); end >= 0 {
			return keyOther, 2 + end + 1
		}
		return keyOther, len(typed)
	case typed[1] == 'O' && len(typed) > 2:
		return keyOther, 3
	case typed[1] == 0x1b:
		return keyEscape, 1
	}
	_, n := utf8.DecodeRune(typed[1:])
	return keyOther, 1 + n
}
