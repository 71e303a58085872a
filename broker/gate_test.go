package broker_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// D25: what leave that lasts covers is no attempt: an agent that unpacks a
// thousand files where it may is held up no more than where it need not ask.
// Without the leave the bound is what it was. The clock stands still.
func TestLeaveIsNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onSQLite(t)
		manager, worker := w.pair()

		count := func(places string) (allowed int) {
			for i := range 700 {
				call := write(fmt.Sprintf(places, i))
				call.MayBlock = false
				if w.Gate(worker).Check(t.Context(), call).Allowed() {
					allowed++
				}
			}
			return allowed
		}
		leave := must(w.Approve(t.Context(), manager, w.ask(worker, "src").ID, broker.Answer{Scope: broker.Subtree}))
		require.Equal(t, 700, count("src/%d"))
		must(w.Revoke(t.Context(), manager, leave.ID))
		require.Zero(t, count("src/%d"))
		refused(t, broker.CodeRateLimited, second(w.Ask(t.Context(), worker, write("src/x"))))
	})
}
