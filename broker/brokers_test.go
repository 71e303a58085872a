package broker_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/pgstore"
	"github.com/pinfold-dev/pinfold/internal/pgtest"
)

// Several brokers on one PostgreSQL act as one: who waits on one is answered on
// another.
func TestBrokersActAsOne(t *testing.T) {
	w := onPostgres(t)
	manager, worker := w.pair()
	other := w.second()
	rounds := 5
	if os.Getenv("PINFOLD_LONG") != "" {
		rounds = 200
	}
	var took []time.Duration
	for i := range rounds {
		place := fmt.Sprintf("src/%d", i)
		answer := background(func() (access.Decision, error) { return w.Gate(worker).Check(t.Context(), write(place)), nil })
		list, err := other.Receive(t.Context(), manager, true)
		require.NoError(t, err)
		require.Len(t, list, 1)
		rows, err := other.Requests(t.Context(), manager)
		require.NoError(t, err)
		require.Len(t, rows, 1)
		_, err = other.Approve(t.Context(), manager, rows[0].ID, broker.Answer{})
		require.NoError(t, err)
		began := time.Now()
		require.True(t, soon(t, answer).value.Allowed())
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("from an approval on one broker to the answer on another: median %v of %d", took[len(took)/2], rounds)
	must(w.Verify(t.Context(), operator, broker.Head{}))
}

// holderEnv has this binary be a broker that waits, until it is killed.
const holderEnv = "BROKER_HOLD"

// hold waits on behalf of the worker for every request in its arguments.
func hold() {
	store, err := pgstore.Open(context.Background(), os.Getenv(holderEnv))
	if err != nil {
		panic(err)
	}
	b, err := broker.New(context.Background(), broker.Options{Store: store})
	if err != nil {
		panic(err)
	}
	for _, id := range os.Args[1:] {
		go func() { _, _ = b.Wait(context.Background(), broker.AgentIdentity("worker"), id) }()
	}
	select {}
}

// D17: a broker that is killed takes nothing with it: what it waited for is
// there, is waited for elsewhere, and is answered once, on one that has joined
// meanwhile.
func TestBrokerIsKilled(t *testing.T) {
	dsn := pgtest.Database(t)
	w := &world{T: t, open: func() (broker.Store, error) { return pgstore.Open(context.Background(), dsn) }}
	w.begin()
	manager, worker := w.pair()
	const requests = 10
	var asked []string
	for i := range requests {
		asked = append(asked, w.ask(worker, fmt.Sprintf("src/%d", i)).ID)
	}
	holder := exec.Command(os.Args[0], asked...)
	holder.Env = append(os.Environ(), holderEnv+"="+dsn)
	holder.Stderr = os.Stderr
	require.NoError(t, holder.Start())
	w.eventually(func() bool { return len(w.waits()) == requests })
	require.NoError(t, holder.Process.Kill())
	require.Error(t, holder.Wait())

	require.Equal(t, asked, ids(must(w.Requests(t.Context(), manager))))
	var answers []<-chan result[broker.Request]
	for _, id := range asked {
		answers = append(answers, background(func() (broker.Request, error) { return w.Wait(t.Context(), worker, id) }))
	}
	third := w.second()
	for _, id := range asked {
		must(third.Approve(t.Context(), manager, id, broker.Answer{}))
	}
	for i, ch := range answers {
		require.True(t, soon(t, ch).value.Approval())
		place := fmt.Sprintf("src/%d", i)
		require.True(t, third.Gate(worker).Check(t.Context(), write(place)).Allowed())
		require.Equal(t, broker.Consumed, must(w.Request(t.Context(), worker, asked[i])).Status)
	}
	require.Len(t, must(w.Receive(t.Context(), manager, false)), requests, "each was told once")
	must(w.Verify(t.Context(), operator, broker.Head{}))
}
