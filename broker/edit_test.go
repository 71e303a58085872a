package broker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// M2, X6: whose rights an agent changes is for its own policy to say (policy.edit). An agent
// that may not, though it is somebody's manager, would else open a way to send for its
// child, and be told what it is not told itself.
func TestPolicyEdit(t *testing.T) {
	bypass := broker.CrossChange{Mode: permission.Bypass}
	for _, tt := range []struct{ says, effect string }{{"", "allow"}, {"defaults: {policy.edit: deny}\n", "deny"}, {"defaults: {policy.edit: ask}\n", "ask"}} {
		t.Run(tt.effect, func(t *testing.T) {
			w := newWorld(t)
			boss := w.hire(operator, "boss", managerDoc+tt.says)
			w.hire(boss, "kid", workerDoc)
			var err error
			if tt.effect == "ask" {
				set := make(chan error, 1)
				go func() {
					_, _, err := w.SetCross(t.Context(), boss, "kid", bypass)
					set <- err
				}()
				var list []broker.Request
				w.eventually(func() bool {
					list = must(w.Requests(t.Context(), operator))
					return len(list) == 1
				})
				r := list[0]
				require.Equal(t, "policy.edit", string(r.Action))
				require.Equal(t, "kid", r.Resource)
				require.Contains(t, r.Input, `"mode":"bypass"`)
				must(w.Approve(t.Context(), operator, r.ID, broker.Answer{}))
				err = <-set
			} else {
				_, _, err = w.SetCross(t.Context(), boss, "kid", bypass)
			}
			set := must(w.Cross(t.Context(), operator, "kid")).Mode
			if tt.effect == "deny" {
				require.Error(t, err)
				require.Empty(t, set)
			} else {
				require.NoError(t, err)
				require.Equal(t, permission.Bypass, set)
			}
			_, _, err = w.SetCross(t.Context(), operator, "kid", broker.CrossChange{Clear: true})
			require.NoError(t, err, "the operator may always")
		})
	}
}
