// Package keyburst tells a key that somebody presses on purpose from typing that was
// meant for another place. It is for programs that take keys as commands on a terminal
// on which a person may be typing when they begin to listen.
//
//	var g keyburst.Guard
//	if g.Key(now, "d") {
//		... // the first key of a burst
//	}
//
// Only the first key of a burst has an effect, and its repetition; what follows is
// ignored until nothing was pressed for Pause. Even so, a key that writes text should
// not give an answer; the caller has to see to that.
package keyburst

import "time"

// Pause is how long nothing may be pressed for a burst of typing to be over.
const Pause = 600 * time.Millisecond

// Guard knows what was typed last. The zero Guard takes the next key. It is not
// safe for use by several goroutines.
type Guard struct {
	// Pause is used instead of the package's; 0 is that.
	Pause time.Duration

	last  time.Time // when something was pressed
	first string    // the key that began the burst; "" where all of it is ignored
}

func (g *Guard) pause() time.Duration {
	if g.Pause > 0 {
		return g.Pause
	}
	return Pause
}

// Quiet reports whether nothing was pressed for a pause.
func (g *Guard) Quiet(now time.Time) bool { return now.Sub(g.last) >= g.pause() }

// Key notes a key, and reports whether it may do something.
func (g *Guard) Key(now time.Time, key string) bool {
	if g.Quiet(now) {
		g.first = key
	} else if g.first != key {
		g.first = ""
	}
	g.last = now
	return g.first != ""
}

// Note notes a key that is no part of a burst, such as an arrow, or text that is
// typed where it belongs. What was ignored stays so until there is a pause.
func (g *Guard) Note(now time.Time) {
	if g.Quiet(now) {
		g.first = ""
	}
	g.last = now
}

// Ignore has all be ignored until there is a pause: a key meant nothing here, or
// what was shown has changed under whoever types.
func (g *Guard) Ignore(now time.Time) { g.last, g.first = now, "" }
