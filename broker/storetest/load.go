package storetest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/broker"
)

// loaders is how many goroutines of a process write at the same time.
const loaders = 4

// Load asks, approves, denies, tells and delivers until ctx is done. After each
// update that was acknowledged it writes a line to acks, in one piece: a word
// and an id. The ids begin with name, which no other Load has. An update that
// fails is not repeated: what became of it is open.
func Load(ctx context.Context, s broker.Store, name string, acks io.Writer) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	ack := func(words ...string) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.WriteString(acks, strings.Join(words, "\n")+"\n")
	}
	for i := range loaders {
		wg.Go(func() {
			me := fmt.Sprintf("%s-%d", name, i)
			for n := 0; ctx.Err() == nil; n++ {
				if err := step(ctx, s, me, fmt.Sprintf("%s-%06d", me, n), n%2 == 0, ack); err != nil {
					// The server is away: not to be asked a million times.
					select {
					case <-time.After(5 * time.Millisecond):
					case <-ctx.Done():
					}
				}
			}
		})
	}
	wg.Wait()
}

// step is the life of one request: asked, answered, told, delivered. Each is an
// update of its own with its record in it.
func step(ctx context.Context, s broker.Store, me, id string, yes bool, ack func(...string)) error {
	err := s.Update(ctx, func(tx broker.Tx) error {
		if err := tx.InsertRequest(request(id, me)); err != nil {
			return err
		}
		return appended(tx, "ask", id)
	})
	if err != nil {
		return err
	}
	ack("ask " + id)

	status, word := broker.Denied, "deny"
	if yes {
		status, word = broker.Active, "approve"
	}
	err = s.Update(ctx, func(tx broker.Tx) error {
		r, err := tx.Request(id)
		if err != nil {
			return err
		}
		r.Status, r.ResolvedAt = status, now
		if err := tx.UpdateRequest(r, broker.Pending); err != nil {
			return err
		}
		m := message(id, me)
		m.Key = "answer to " + id
		if _, err := tx.InsertMessage(m); err != nil {
			return err
		}
		tx.Notify(me)
		return appended(tx, word, id)
	})
	if err != nil {
		return err
	}
	ack(word+" "+id, "message "+id)

	var got []broker.Message
	err = s.Update(ctx, func(tx broker.Tx) (err error) {
		got, err = tx.Messages(broker.MessageFilter{RecipientID: me, Undelivered: true})
		if err != nil {
			return err
		}
		for _, m := range got {
			if err := appended(tx, "deliver", m.ID); err != nil {
				return err
			}
		}
		return tx.MarkDelivered(me, ids(got), now)
	})
	if err != nil {
		return err
	}
	for _, m := range got {
		ack("deliver " + m.ID)
	}
	return nil
}
