package keyburst

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Of a burst only the first key counts, and its repetition.
func TestBurst(t *testing.T) {
	var g Guard
	now := time.Now()
	soon := func() time.Time { now = now.Add(Pause / 2); return now }
	later := func() time.Time { now = now.Add(Pause); return now }
	require.True(t, g.Key(now, "j"))
	require.True(t, g.Key(soon(), "j"))
	require.False(t, g.Key(soon(), "a"))
	require.False(t, g.Key(soon(), "a"), "the burst goes on")
	require.False(t, g.Key(soon(), "j"))
	require.False(t, g.Quiet(soon()))
	require.True(t, g.Key(later(), "a"))
	g.Ignore(later())
	require.False(t, g.Key(soon(), "a"))
	require.True(t, g.Key(later(), "a"))
	g.Note(soon())
	require.False(t, g.Key(soon(), "b"))
	g.Note(later())
	require.False(t, g.Key(soon(), "a"), "text goes before it")
	g.Pause = time.Millisecond
	require.True(t, g.Key(soon(), "a"))
}

// However keys come, a key that does something is the first after a pause, or is
// the same as that.
func TestOnlyTheFirstKeyActs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g Guard
		now := time.Now()
		first := ""
		for range rapid.IntRange(1, 100).Draw(t, "keys") {
			gap := time.Duration(rapid.IntRange(0, 2*int(Pause)).Draw(t, "gap"))
			key := rapid.SampledFrom([]string{"a", "d", "y", "enter"}).Draw(t, "key")
			if now = now.Add(gap); gap >= Pause || first == "" && g.last.IsZero() {
				first = key
			}
			if g.Key(now, key) && key != first {
				t.Fatalf("%q acts within the burst that %q began", key, first)
			}
		}
	})
}
