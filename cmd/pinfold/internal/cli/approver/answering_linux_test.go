package approver

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
)

// A request that the answer before it covers is not asked about any more, though
// nobody has heard yet that it was covered.
func TestCoveredIsNotAskedAgain(t *testing.T) {
	b, _, _ := clitest.ServedBroker(t)
	var rows []broker.Request
	for i := range 20 { // writers of one file that wait
		rows = append(rows, clitest.Asks(t, b, fmt.Sprintf("version = %d", i), ""))
	}
	var calls atomic.Int32
	w := start(t.Context(), b, cli.NewOutput(io.Discard, io.Discard), 1, func(context.Context, broker.Request) decision {
		calls.Add(1)
		return decision{effect: access.Allow, answer: broker.Answer{Scope: broker.Path}}
	})
	for _, r := range rows {
		require.True(t, clitest.Ended(t, b, r.ID).Approval())
	}
	require.NoError(t, w.Close())
	require.Equal(t, int32(1), calls.Load())
}
