package broker_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
)

// benchWorld is a broker with n agents, who have to ask the operator for src.
func benchWorld(b *testing.B, n int) (*broker.Broker, []broker.Identity) {
	ctx := context.Background()
	store, err := sqlitestore.Open(ctx, filepath.Join(b.TempDir(), "broker.db"))
	require.NoError(b, err)
	most := 1 << 30
	br, err := broker.New(ctx, broker.Options{Store: store, Keep: 1 << 50, Rates: broker.Rates{PairPerMinute: most, SenderPerMinute: most, Burst: most}})
	require.NoError(b, err)
	b.Cleanup(func() {
		br.Close()
		require.NoError(b, store.Close())
	})
	workers := make([]broker.Identity, n)
	for i := range workers {
		id := fmt.Sprintf("w%d", i)
		_, _, err := br.Hire(ctx, operator, broker.HireSpec{ID: id, Policy: policy(b, managerDoc+"fs: {ask_write: [src]}\n"), Cwd: "/project"})
		require.NoError(b, err)
		workers[i] = broker.AgentIdentity(id)
	}
	return br, workers
}

// manyWorkers is enough that no agent meets its own bound on attempts.
const manyWorkers = 256

// BenchmarkAskToAnswer is from an agent's question to its going on, with a
// manager who approves at once; its 99th percentile beside the mean.
func BenchmarkAskToAnswer(b *testing.B) {
	br, workers := benchWorld(b, manyWorkers)
	ctx, stop := context.WithCancel(context.Background())
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for {
			list, err := br.Receive(ctx, operator, true)
			if err != nil {
				return
			}
			for _, m := range list {
				_, _ = br.Ack(ctx, operator, m.ID)
			}
			rows, _ := br.Requests(ctx, operator)
			for _, r := range rows {
				_, _ = br.Approve(ctx, operator, r.ID, broker.Answer{})
			}
		}
	}()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		d := br.Gate(workers[len(took)%manyWorkers]).Check(ctx, write("src/a"))
		if !d.Allowed() {
			b.Fatal(d.Text())
		}
		took = append(took, time.Since(began))
	}
	stop()
	<-answered
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkSend is messages of many agents to one.
func BenchmarkSend(b *testing.B) {
	br, workers := benchWorld(b, manyWorkers)
	var next atomic.Int64
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n := next.Add(1)
			from, to := n%manyWorkers, (n+1)%manyWorkers
			_, err := br.Send(context.Background(), workers[from], broker.Outgoing{To: "agent:" + workers[to].AgentID() + ":main", Verb: broker.VerbContextualize, Content: "x"})
			var full *broker.Error // a mailbox that nobody reads
			if err != nil && !errors.As(err, &full) {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkGateRead is what an allowed read costs.
func BenchmarkGateRead(b *testing.B) {
	br, workers := benchWorld(b, 1)
	gate := br.Gate(workers[0])
	for b.Loop() {
		if !gate.Check(context.Background(), access.Request{Action: access.FSRead, Resource: "a"}).Allowed() {
			b.Fatal("refused")
		}
	}
}
