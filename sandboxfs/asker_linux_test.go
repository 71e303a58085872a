package sandboxfs

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
)

// What was refused at once is recorded once, and what is remembered has a bound.
func TestAsksAreBounded(t *testing.T) {
	v := &counter{}
	a := newAsks(&Options{Ask: v})
	q := AskRequest{Syscall: "mkdir", Accesses: accessesOf("x")}
	require.True(t, a.atOnce(q))
	require.False(t, a.atOnce(q), "known: to be put to Ask")
	for n := range 2 * maxKnown {
		q.Accesses = accessesOf("x" + string(rune(0x4e00+n)))
		require.True(t, a.atOnce(q))
	}
	require.LessOrEqual(t, len(a.known.keys), maxKnown)
	require.LessOrEqual(t, len(a.known.oldest), maxKnown)
	a.close()
	require.EqualValues(t, 2*maxKnown+1, v.recorded+int(a.dropped.Load()), "recorded, or counted")
}

// counter records by counting.
type counter struct{ recorded int }

func (c *counter) Ask(context.Context, AskRequest) error { return nil }

func (c *counter) Record(context.Context, AskRequest) error { c.recorded++; return nil }

func (c *counter) Granted(access.Access) bool { return false }

func accessesOf(place string) []access.Access {
	return []access.Access{{Action: access.FSCreate, Resource: place}}
}
