package storetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// mailboxes is among how many agents the benchmarks' rows are spread.
const mailboxes = 1000

// Bench measures what a broker does all the time, one after the other and by
// many at the same time. The store is empty.
func Bench(b *testing.B, open func(b *testing.B) broker.Store) {
	for _, verb := range []struct {
		name string
		op   func(ctx context.Context, s broker.Store, n int64) error
	}{
		// A request that is asked and approved: two updates, as in life.
		{"approve", func(ctx context.Context, s broker.Store, n int64) error {
			return answer(ctx, s, fmt.Sprintf("r%012d", n), mailbox(n))
		}},
		{"send", func(ctx context.Context, s broker.Store, n int64) error {
			return s.Update(ctx, func(tx broker.Tx) error {
				if _, err := tx.InsertMessage(message(fmt.Sprintf("m%012d", n), mailbox(n))); err != nil {
					return err
				}
				tx.Notify(mailbox(n))
				return appended(tx, "msg.send", mailbox(n))
			})
		}},
		{"record", func(ctx context.Context, s broker.Store, n int64) error {
			return s.Update(ctx, func(tx broker.Tx) error { return appended(tx, "fs.write", mailbox(n)) })
		}},
		// A mailbox with a message in it.
		{"receive", func(ctx context.Context, s broker.Store, n int64) error {
			return s.Update(ctx, func(tx broker.Tx) error {
				if _, err := tx.InsertMessage(message(fmt.Sprintf("d%012d", n), mailbox(n))); err != nil {
					return err
				}
				got, err := tx.Messages(broker.MessageFilter{RecipientID: mailbox(n), Undelivered: true})
				if err != nil {
					return err
				}
				return tx.MarkDelivered(mailbox(n), ids(got), now)
			})
		}},
		{"look", func(ctx context.Context, s broker.Store, n int64) error {
			return s.View(ctx, func(tx broker.ReadTx) error {
				_, err := tx.Agent(mailbox(n))
				return err
			})
		}},
	} {
		for _, clients := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/clients=%d", verb.name, clients), func(b *testing.B) {
				s := open(b)
				defer func() { require.NoError(b, s.Close()) }()
				require.NoError(b, s.Update(context.Background(), func(tx broker.Tx) error {
					for n := range int64(mailboxes) {
						if err := tx.InsertAgent(agent(mailbox(n))); err != nil {
							return err
						}
					}
					return nil
				}))
				var n atomic.Int64
				errs := make(chan error, clients)
				b.ResetTimer()
				for range clients {
					go func() {
						for {
							i := n.Add(1)
							if i > int64(b.N) {
								errs <- nil
								return
							}
							if err := verb.op(context.Background(), s, i); err != nil {
								errs <- err
								return
							}
						}
					}()
				}
				for range clients {
					require.NoError(b, <-errs)
				}
				b.StopTimer()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
			})
		}
	}
}

func mailbox(n int64) string { return fmt.Sprintf("agent-%04d", n%mailboxes) }

func answer(ctx context.Context, s broker.Store, id, asker string) error {
	err := s.Update(ctx, func(tx broker.Tx) error {
		if err := tx.InsertRequest(request(id, asker)); err != nil {
			return err
		}
		return appended(tx, "ask", id)
	})
	if err != nil {
		return err
	}
	return s.Update(ctx, func(tx broker.Tx) error {
		r, err := tx.Request(id)
		if err != nil {
			return err
		}
		r.Status, r.Resolver, r.ResolvedAt = broker.Active, "operator", now
		if err := tx.UpdateRequest(r, broker.Pending); err != nil {
			return err
		}
		tx.Notify(id)
		return appended(tx, "approve", id)
	})
}
