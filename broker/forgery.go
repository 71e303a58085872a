package broker

import (
	"context"
	"errors"
	"time"
)

// recordTime bounds how long a refusal waits for its record.
const recordTime = 10 * time.Second

// Refused writes down what a transport has refused by itself, before the broker
// heard of it: a stranger at an agent's socket, a token that is nobody's, a
// request that names another than its connection's owner. The zero Identity is
// nobody. It is on disk when Refused returns, whether or not ctx has ended. All
// that are nobody share one bound of 600 attempts a minute and one of Options.Keep,
// and each agent has its own: what goes beyond is counted, not recorded.
func (b *Broker) Refused(ctx context.Context, who Identity, action, resource string, why *Error) error {
	if !b.attempts.admit(who) {
		return tooOften()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	return b.update(ctx, func(t *tx) error {
		_ = t.refused(who, action, resource, why)
		return nil
	})
}

// guessed records that an agent named what is not there, or not for it to see,
// and returns the refusal.
func (b *Broker) guessed(ctx context.Context, who Identity, action, id string, err error) error {
	var refusal *Error
	if who.operator || !errors.As(err, &refusal) || refusal.Code != CodeNotFound {
		return err
	}
	if e := b.Refused(ctx, who, action, id, refusal); e != nil {
		return e
	}
	return err
}

// guess is guessed within a transaction, of an attempt that was admitted.
func (t *tx) guess(who Identity, action, id string, err error) error {
	var refusal *Error
	if !who.operator && errors.As(err, &refusal) && refusal.Code == CodeNotFound {
		return t.refused(who, action, id, refusal)
	}
	return err
}
