package fuseconn

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// An interrupt ends the wait also when the kernel sent it before the request had
// begun to wait, and that of no other.
func TestInterrupts(t *testing.T) {
	var i interrupts
	i.interrupt(7)
	early, end := i.begin(7)
	defer end()
	require.Equal(t, ErrInterrupted, context.Cause(early))

	one, endOne := i.begin(8)
	other, endOther := i.begin(9)
	defer endOther()
	require.NoError(t, one.Err())
	i.interrupt(8)
	require.Equal(t, ErrInterrupted, context.Cause(one))
	require.NoError(t, other.Err())
	endOne()
	require.Len(t, i.waiting, 2)

	for n := range uint64(2 * maxInterrupts) { // nothing grows without end
		i.interrupt(100 + n)
	}
	require.Len(t, i.early, maxInterrupts)

	i.end()
	require.Equal(t, ErrInterrupted, context.Cause(other))
	late, endLate := i.begin(10)
	defer endLate()
	require.Equal(t, ErrInterrupted, context.Cause(late))
}
