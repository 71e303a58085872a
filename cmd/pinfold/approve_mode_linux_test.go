package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// A request that the answer before it covers is not asked about any more, though
// nobody has heard yet that it was covered.
func TestCoveredIsNotAskedAgain(t *testing.T) {
	b, _, _ := servedBroker(t)
	var rows []broker.Request
	for i := range 20 { // writers of one file that wait
		rows = append(rows, asks(t, b, fmt.Sprintf("version = %d", i), ""))
	}
	e := &embedded{b: b, ctx: t.Context(), out: newOutput(io.Discard, io.Discard)}
	var calls atomic.Int32
	w := e.answering(1, func(context.Context, broker.Request) ruling {
		calls.Add(1)
		return ruling{approve: true, answer: broker.Answer{Scope: broker.Path}}
	})
	for _, r := range rows {
		require.True(t, ended(t, b, r.ID).Approval())
	}
	require.NoError(t, w.close())
	require.Equal(t, int32(1), calls.Load())
}
