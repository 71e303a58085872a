package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// asIfAlone: several callers make updates at the same time, each of rows of its own, at two
// stores in turn, and some fail. Every read within one finds what it would if it ran alone:
// what was committed at either store, what the update itself has changed, and nothing of
// one that failed. A store may keep what it has read, and write late: nobody notices.
func asIfAlone(t *testing.T, open Open) {
	const callers, rounds = 6, 25
	stores := []broker.Store{opened(t, open), opened(t, open)}
	update(t, stores[0], func(tx broker.Tx) {
		for i := range callers {
			require.NoError(t, tx.InsertAgent(agent(id("own %d", i))))
		}
	})
	errs := together(callers, func(i int) error {
		c := newCaller(i)
		for n := range rounds {
			if err := c.update(stores[(i+n)%len(stores)]); err != nil {
				return fmt.Errorf("caller %d, round %d: %w", i, n, err)
			}
		}
		return nil
	})
	require.NoError(t, errors.Join(errs...))
	view(t, stores[1], func(tx broker.ReadTx) { require.NotEmpty(t, chain(t, tx)) })
}

// caller knows what its rows are.
type caller struct {
	name  string
	rand  *rand.Rand
	model model
}

// model is what is to be found of one caller's rows.
type model struct {
	turn     int64
	bytes    int64
	leftOut  int64
	rate     time.Time
	waiting  int // messages that were not acknowledged
	received int
	second   bool // another agent of its name is there
}

func newCaller(i int) *caller {
	return &caller{name: id("own %d", i), rand: rand.New(rand.NewPCG(uint64(i), 1))}
}

// second is an agent that comes and goes.
func (c *caller) second() string { return c.name + " second" }

var errOnPurpose = errors.New("on purpose")

// update makes some changes in one update, and looks at each.
func (c *caller) update(s broker.Store) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	steps := make([]int, 1+c.rand.IntN(6))
	for i := range steps {
		steps[i] = c.rand.IntN(9)
	}
	fails := c.rand.IntN(4) == 0
	var after model
	err := s.Update(ctx, func(tx broker.Tx) error { // perhaps more than once
		after = c.model
		if err := c.look(tx, &after); err != nil {
			return err
		}
		for _, step := range steps {
			if err := c.step(tx, &after, step); err != nil {
				return fmt.Errorf("step %d: %w", step, err)
			}
			if err := c.look(tx, &after); err != nil {
				return fmt.Errorf("after step %d: %w", step, err)
			}
		}
		if fails {
			return errOnPurpose
		}
		return nil
	})
	if fails {
		if !errors.Is(err, errOnPurpose) {
			return fmt.Errorf("it should fail: %w", err)
		}
		return nil
	}
	c.model = after
	return err
}

func (c *caller) step(tx broker.Tx, m *model, step int) error {
	switch step {
	case 0:
		a, err := tx.Agent(c.name)
		if err != nil {
			return err
		}
		m.turn++
		a.Turn = m.turn
		a.Cause = append(a.Cause[:0], id("cause %d", int(m.turn)))
		return tx.UpdateAgent(a, broker.Working)
	case 1:
		m.bytes++
		m.leftOut++
		return tx.PutUsage(broker.Usage{Owner: c.name, Kind: broker.UsageRows, Bytes: m.bytes, LeftOut: m.leftOut})
	case 2:
		m.rate = now.Add(time.Duration(m.received) * time.Second)
		return tx.SetRate(c.name, m.rate)
	case 3:
		m.received++
		m.waiting++
		in := message(id(c.name+" message %d", m.received), c.name)
		in.SenderID = c.name
		_, err := tx.InsertMessage(in)
		if errors.Is(err, broker.ErrExists) { // of an update that failed: it must not be there
			return errors.New("the message is there already")
		}
		return err
	case 4:
		waiting, err := tx.Messages(broker.MessageFilter{RecipientID: c.name, Unacked: true})
		if err != nil || len(waiting) == 0 {
			return err
		}
		if waiting[0].DeliveredAt.IsZero() {
			if err := tx.MarkDelivered(c.name, []string{waiting[0].ID}, now); err != nil {
				return err
			}
		}
		n, err := tx.MarkAcked(c.name, []string{waiting[0].ID}, now)
		m.waiting -= n
		return err
	case 5:
		return appended(tx, "fs.write", c.name)
	case 7:
		m.second = !m.second
		if !m.second {
			return tx.DeleteAgent(c.second())
		}
		return tx.InsertAgent(agent(c.second()))
	case 6:
		n, err := tx.DeleteMessages(c.name)
		if err == nil && n < m.waiting {
			err = fmt.Errorf("%d messages were deleted, and %d waited", n, m.waiting)
		}
		m.waiting = 0
		return err
	default: // of all callers
		list, err := tx.LeftOut()
		if err != nil {
			return err
		}
		for _, u := range list {
			if u.Owner == c.name && u.LeftOut != m.leftOut {
				return fmt.Errorf("left out are %d, not %d", u.LeftOut, m.leftOut)
			}
		}
		_, err = tx.Records(broker.RecordFilter{Limit: 1, Last: true})
		return err
	}
}

// look compares what there is with what there should be.
func (c *caller) look(tx broker.ReadTx, m *model) error {
	a, err := tx.Agent(c.name)
	if err != nil {
		return err
	}
	_, err = tx.Agent(c.second())
	second := err == nil
	if !second && !errors.Is(err, broker.ErrNotFound) {
		return err
	}
	u, err1 := tx.Usage(c.name, broker.UsageRows)
	rate, err2 := tx.Rate(c.name)
	from, err3 := tx.CountMessages(broker.MessageFilter{RecipientID: c.name, SenderID: c.name, Unacked: true})
	all, err4 := tx.CountMessages(broker.MessageFilter{RecipientID: c.name, Unacked: true})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	got := model{turn: a.Turn, bytes: u.Bytes, leftOut: u.LeftOut, rate: rate, waiting: from, received: m.received, second: second}
	if got != *m || all != from {
		return fmt.Errorf("found %+v (%d in all) instead of %+v", got, all, *m)
	}
	return nil
}
