package broker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// A1: what an agent's view has refused is on record, under the agent's own name and as
// nothing but a refusal. What its view could not tell of is counted.
func TestDenialsOfAViewAreRecorded(t *testing.T) {
	w := newWorld(t)
	_, worker := w.pair()
	before := must(w.Head(t.Context(), operator)).Seq
	n, err := w.RecordDenials(t.Context(), worker, broker.Denials{Items: []broker.Denial{
		{Action: access.FSWrite, Resource: "etc", Code: "no_write_path", Rule: "worker:fs.write", Reason: "open by 'sh', process 4", Times: 12},
		{Action: access.FSDelete, Resource: "etc\x00", Code: "no_write_path"},
	}, LeftOut: 7, Unjudged: 3})
	require.NoError(t, err)
	require.Equal(t, 2, n)
	var texts []string
	for _, r := range must(w.Records(t.Context(), operator, broker.RecordFilter{AfterSeq: before})) {
		require.Equal(t, []any{"worker", access.Deny}, []any{r.Principal, r.Effect})
		texts = append(texts, r.Action+" "+r.Resource+" "+r.Reason)
		if r.Action == "fs.write" {
			require.Equal(t, []any{access.Code("no_write_path"), "worker:fs.write"}, []any{r.Code, r.Rule})
			require.Equal(t, must(w.Agent(t.Context(), operator, "worker")).PolicyHash, r.PolicyHash)
		}
	}
	require.Len(t, texts, 4)
	require.Contains(t, texts, "fs.write etc open by 'sh', process 4, 12 times")
	require.Contains(t, texts, "fs.delete etc\uFFFD ")
	require.Contains(t, texts, "left_out worker 3 attempts or more of 'worker' came too fast to be judged, and may have been refused")
	left := must(w.LeftOut(t.Context(), operator))
	require.Len(t, left, 1)
	require.Equal(t, int64(7), left[0].LeftOut)
	must(w.Verify(t.Context(), operator, broker.Head{}))

	// Nobody else's, no words that policies do not have, not more than a batch.
	for name, told := range map[string]broker.Denials{
		"unknown action": {Items: []broker.Denial{{Action: "approve", Resource: "x"}}},
		"negative":       {LeftOut: -1},
		"at most 1000":   {Items: make([]broker.Denial, 1001)},
	} {
		require.ErrorContains(t, second(w.RecordDenials(t.Context(), worker, told)), name)
	}
	one := broker.Denials{Items: []broker.Denial{{Action: access.FSWrite, Resource: "etc"}}}
	for _, who := range []broker.Identity{operator, {}, broker.AgentIdentity("none")} {
		require.Error(t, second(w.RecordDenials(t.Context(), who, one)))
	}
	// Its view tells the last of an agent that was fired, until its process is gone.
	require.NoError(t, w.Started(t.Context(), "worker", "p", ""))
	go func() { _, _ = w.Fire(t.Context(), operator, "worker") }()
	must(w.AwaitAgent(t.Context(), "worker", func(a broker.Agent) bool { return a.State == broker.Fired }))
	require.NoError(t, second(w.RecordDenials(t.Context(), worker, one)))
	require.NoError(t, w.Exited(t.Context(), "worker", broker.Exit{}))
	require.Error(t, second(w.RecordDenials(t.Context(), worker, one)))
}

// A program that is refused all the time fills no audit, and leaves the agent its own rate
// for asking and sending. How often it was refused is known all the same.
func TestDenialsHaveARateOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onSQLite(t)
		_, worker := w.pair()
		told := broker.Denials{}
		for range 1000 {
			told.Items = append(told.Items, broker.Denial{Action: access.FSWrite, Resource: "etc"})
		}
		recorded, err := w.RecordDenials(t.Context(), worker, told)
		require.NoError(t, err)
		require.Less(t, recorded, 601)
		require.Equal(t, int64(1000-recorded), must(w.LeftOut(t.Context(), operator))[0].LeftOut)
		require.ErrorContains(t, second(w.RecordDenials(t.Context(), worker, told)), "too many requests", "a telling costs a transaction")
		require.Equal(t, access.Allow, w.Gate(worker).Check(t.Context(), write("docs/a")).Effect)
		require.NoError(t, second(w.Send(t.Context(), worker, broker.Outgoing{To: "agent:boss:main", Content: "done"})))
		time.Sleep(time.Minute) // of synctest's clock
		require.NoError(t, second(w.RecordDenials(t.Context(), worker, told)))
	})
}
