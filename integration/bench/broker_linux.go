package main

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/integration/bench/brokerbench"
	"github.com/pinfold-dev/pinfold/integration/bench/figures"
)

// brokerRounds are few: each asks, answers and sends hundreds of times.
const brokerRounds = 11

// measureBroker makes the two tables about the broker: the check of a message,
// and a broker that is full.
func measureBroker(ctx context.Context, o options, dir string, p figures.Progress, r *report) (err error) {
	scale, calls, each := brokerbench.Full(), 100_000, 400
	if o.quick {
		scale, calls, each = brokerbench.Quick(), 1000, 8
	}
	rounds := o.roundsOr(brokerRounds)
	if matches(o.rows, brokerbench.CheckRow) {
		h, err := brokerbench.MeasureChecks(ctx, calls, rounds, p)
		if err != nil {
			return err
		}
		r.Halves = append(r.Halves, h)
	}
	b, err := brokerbench.Start(ctx, mustDir(dir, "broker"), scale, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	h := b.Half()
	r.Halves = append(r.Halves, h)
	if err := fill(ctx, h, o.pick(b.Work(each)), rounds, p); err != nil {
		return err
	}
	h.Notes = append(h.Notes, "all brokers and clients are one process, whose memory was at most "+peak())
	return nil
}

// peak is the most memory that this process had.
func peak() string {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%d MB", u.Maxrss>>10)
}
