package broker_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// costly is a policy whose globs all have to be tried, and a call with as many
// components for them as a call may have.
func costly(t *testing.T) (doc string, c access.Request) {
	t.Helper()
	var globs []string
	for i := range 200 {
		globs = append(globs, fmt.Sprintf("%q", strings.Repeat("**/a/", 20)+"{b,{c,{d,x}}}"+fmt.Sprint(i)))
	}
	c = write("src/" + strings.Repeat("a/", 500) + "y")
	c.Also = []access.Access{{Action: access.FSWrite, Resource: "src/" + strings.Repeat("a/", 500) + "z"}}
	return "version: 1\nextends: trusted\nfs: {hide: [" + strings.Join(globs, ", ") + "], ask_write: [src]}\n", c
}

// What one agent asks, however much it costs to decide, holds up no other: while
// some go on asking such things, the others are asked for, answered and served.
func TestCostlyQuestionsHoldUpNobody(t *testing.T) {
	w := newWorld(t)
	doc, c := costly(t)
	var hostile []broker.Identity
	for i := range 4 {
		hostile = append(hostile, w.hire(operator, fmt.Sprintf("hostile%d", i), doc))
	}
	manager, worker := w.pair()

	ctx, stop := context.WithCancel(w.Context())
	var all sync.WaitGroup
	var asked, refusals atomic.Int64
	begun := make(chan struct{}, len(hostile))
	for _, who := range hostile {
		all.Go(func() {
			for ctx.Err() == nil {
				if d := w.Gate(who).Decide(ctx, c); d.Code != pathresolver.RuleAsk {
					refusals.Add(1) // its share of a minute is used up
				}
				if asked.Add(1) <= int64(len(hostile)) {
					begun <- struct{}{}
				}
			}
		})
	}
	for range hostile {
		soon(t, begun)
	}
	var longest time.Duration
	for i := range 20 { // all of it ends before the others do
		at := time.Now()
		r := w.ask(worker, fmt.Sprintf("src/%d.go", i))
		waiting := background(func() (broker.Request, error) { return w.Wait(w.Context(), worker, r.ID) })
		must(w.Approve(w.Context(), manager, r.ID, broker.Answer{Digest: r.Digest}))
		got := soon(t, waiting)
		require.NoError(t, got.err)
		require.Equal(t, broker.Approved, got.value.Status)
		require.True(t, w.Gate(worker).Decide(w.Context(), write(fmt.Sprintf("src/%d.go", i))).Allowed())
		longest = max(longest, time.Since(at))
	}
	require.NoError(t, ctx.Err())
	stop()
	all.Wait()
	text, err := os.ReadFile("../testdata/answers.txt")
	require.NoError(t, err)
	_, row, found := strings.Cut(string(text), "\ncostly\t")
	require.True(t, found)
	row, what, _ := strings.Cut(strings.TrimSpace(row), "\t")
	fmt.Printf("[table] %s %-12s the attack %s: refused (20 were asked, answered and used while %d such were decided)\n", row, "broker", what, asked.Load())
	t.Logf("20 requests were asked, answered and used while others asked %d costly things (%d beyond their share); the longest took %v", asked.Load(), refusals.Load(), longest)
}

// A call with more places, or deeper ones, is refused before anything is matched.
func TestTooCostlyIsRefused(t *testing.T) {
	w := newWorld(t)
	_, worker := w.pair()
	_, c := costly(t)
	require.Equal(t, pathresolver.RuleAsk, w.Gate(worker).Decide(w.Context(), c).Code, "as much as that is decided")
	c.Also = append(c.Also, access.Access{Action: access.FSWrite, Resource: "src/" + strings.Repeat("a/", 500) + "w"})
	for _, d := range []access.Decision{w.Gate(worker).Decide(w.Context(), c), w.Gate(worker).Peek(w.Context(), c), w.Gate(worker).Check(w.Context(), c)} {
		require.Equal(t, broker.CodeTooLarge, d.Code)
		require.Contains(t, d.Reason(), "1024 components together")
	}
	_, err := w.Ask(w.Context(), worker, c)
	refused(t, broker.CodeTooLarge, err)
}
