package broker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// M12: wide rights may be given for a time. When it is over the agent is nobody at once,
// and soon it and all that it has hired are fired, and their manager is told.
func TestAgentForATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onSQLite(t)
		hire := func(id string, until time.Time) error {
			return third(w.Hire(t.Context(), operator, broker.HireSpec{ID: id, Cwd: "/project", Policy: policy(t, managerDoc), Until: until, Resume: []string{"again"}}))
		}
		start := time.Now()
		require.NoError(t, hire("wide", start.Add(time.Hour)))
		require.NoError(t, hire("other", time.Time{}))
		refused(t, broker.CodeInvalid, hire("late", start))
		wide, other := broker.AgentIdentity("wide"), broker.AgentIdentity("other")
		w.hire(wide, "child", workerDoc)
		require.NoError(t, w.Started(t.Context(), "wide", "p", ""))
		allowed := func(who broker.Identity) bool { return w.Gate(who).Check(t.Context(), write("docs/a")).Allowed() }
		time.Sleep(time.Hour - time.Second)
		require.True(t, allowed(wide))

		// A second before anybody has looked it is over already.
		time.Sleep(time.Second)
		require.Equal(t, access.Code("no_identity"), w.Gate(wide).Check(t.Context(), write("docs/a")).Code)
		require.True(t, allowed(other))
		time.Sleep(time.Minute)
		synctest.Wait()
		for id, want := range map[string]broker.State{"wide": broker.Fired, "child": broker.Fired, "other": broker.Working} {
			require.Equal(t, want, must(w.Agent(t.Context(), operator, id)).State, id)
		}
		require.NoError(t, w.Exited(t.Context(), "wide", broker.Exit{Signal: "terminated"}))
		refused(t, broker.CodeNotFound, w.Started(t.Context(), "wide", "p", ""))
		box := must(w.Receive(t.Context(), operator, false))
		require.Len(t, box, 1)
		require.Equal(t, "wide was fired", box[0].Content)
		expired := must(w.Records(t.Context(), operator, broker.RecordFilter{Action: "expire"}))
		require.Len(t, expired, 1)
		require.Equal(t, "wide", expired[0].Resource)
		must(w.Verify(t.Context(), operator, broker.Head{}))
	})
}

func third[T, U any](_ T, _ U, err error) error { return err }
