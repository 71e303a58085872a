package viewhost

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/pinfold-dev/pinfold/broker"
)

// Granted remembers what an agent was granted, so that a view need not ask the
// broker for each name. It may lag behind: nothing is decided by it.
type Granted struct {
	rows atomic.Pointer[[]broker.Request]
}

// read brings it up to date, and reports whether it could.
func (l *Granted) read(ctx context.Context, b *broker.Broker, who broker.Identity) bool {
	rows, err := b.Grants(ctx, who)
	if err != nil {
		return false // what is remembered stays: it is a hint only
	}
	l.Set(slices.DeleteFunc(rows, func(r broker.Request) bool { return r.AgentID != who.AgentID() }))
	return true
}

func (l *Granted) Set(rows []broker.Request) { l.rows.Store(&rows) }

// cover reports whether one of them may be leave for something at place.
func (l *Granted) cover(place string) bool {
	rows := l.rows.Load()
	return rows != nil && slices.ContainsFunc(*rows, func(r broker.Request) bool { return covers(r, place) })
}
