package viewhost

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

func refusal(place string) sandboxfs.Refusal {
	return sandboxfs.Refusal{
		Time: time.Now(), PID: 4, Program: "sh\n", Op: access.OpWrite, Place: place, Rule: pathresolver.RuleNoWritePath,
		Origin: "worker:fs.write", Syscall: "open",
	}
}

// records are what the broker has on record of the view's agent.
func (a *asking) records(t *testing.T) (list []broker.Record) {
	t.Helper()
	require.NoError(t, a.operator.Audit(t.Context(), 0, false, func(r broker.Record) error {
		if r.Principal == "kid" {
			list = append(list, r)
		}
		return nil
	}))
	return list
}

// Refusals that come together are told together, the same one once with its number, and
// what the broker was asked about not again.
func TestDenialsAreToldInBatches(t *testing.T) {
	w := ask(t)
	d := NewDenials(w.own)
	for range 3 {
		d.Add(refusal("etc/\x1b[2J"))
	}
	asked := refusal("src/a")
	asked.Rule, asked.Answer = pathresolver.RuleAsk, "nobody has answered yet"
	d.Add(asked)
	require.NoError(t, d.Close(0, 0))
	times := 0
	for _, r := range w.records(t) {
		require.Equal(t, []any{"fs.write", `etc/\x1b[2J`, access.Deny, pathresolver.RuleNoWritePath, "worker:fs.write"}, []any{r.Action, r.Resource, r.Effect, r.Code, r.Rule})
		require.True(t, strings.HasPrefix(r.Reason, `open by 'sh\n', process 4`), r.Reason)
		var n int
		if _, err := fmt.Sscanf(r.Reason[strings.LastIndex(r.Reason, ",")+1:], "%d times", &n); err != nil {
			n = 1
		}
		times += n
	}
	require.Equal(t, 3, times)
}

// Nothing waits, and nothing grows without a bound, while the broker does not take what
// was refused; it is told how many there were.
func TestDenialsAreBoundedAndCounted(t *testing.T) {
	w := ask(t)
	d := NewDenials(w.own)
	for i := range maxUntold + 100 {
		d.Add(refusal(fmt.Sprint(i)))
	}
	require.NoError(t, d.Close(5, 2))
	v, err := w.operator.AuditVerify(t.Context(), "")
	require.NoError(t, err)
	require.True(t, v.OK)
	own, left, unjudged := 0, int64(0), false
	for _, r := range w.records(t) {
		if r.Action == "fs.write" {
			own++
		}
		unjudged = unjudged || strings.Contains(r.Reason, "2 attempts or more of 'kid' came too fast to be judged")
	}
	for _, u := range v.LeftOut {
		if u.Owner == "kid" {
			left = u.LeftOut
		}
	}
	require.Equal(t, int64(maxUntold+100+5), int64(own)+left, "each has a record or is counted")
	require.Positive(t, left)
	require.True(t, unjudged)
}

// A broker that is gone holds nobody up. How many it was not told of is said.
func TestDenialsWithoutBroker(t *testing.T) {
	w := ask(t)
	require.NoError(t, w.served.Close())
	d := NewDenials(w.own)
	for range 2 {
		d.Add(refusal("etc"))
	}
	require.ErrorContains(t, d.Close(1, 0), "the broker was not told of 3 refusals")
}
