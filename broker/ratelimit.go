package broker

import (
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/permission"
)

// A rate limit is one time, the one at which all that came would have been due
// had it come evenly: GCRA (ITU-T I.371, annex A). It is kept in the store, so
// that brokers that share it share the limit.

// due counts one event against a limit of perMinute with the given burst. It
// returns the new time, and how long to wait if the event is refused.
func due(last, now time.Time, perMinute, burst int) (next time.Time, wait time.Duration) {
	every := time.Minute / time.Duration(perMinute)
	if last.Before(now) {
		last = now
	}
	next = last.Add(every)
	if ahead := next.Sub(now) - time.Duration(burst)*every; ahead > 0 {
		return last, ahead
	}
	return next, 0
}

// takeRate counts a message against the limits of its pair and its sender, or
// refuses it and counts nothing.
func (t *tx) takeRate(from, to string) error {
	limits := []struct {
		key       string
		perMinute int
		what      string
	}{
		{"pair:" + from + ":" + to, t.b.rates.PairPerMinute, "from \"" + from + "\" to \"" + to + "\""},
		{"sender:" + from, t.b.rates.SenderPerMinute, "from \"" + from + "\""},
	}
	next := make([]time.Time, len(limits))
	for i, l := range limits {
		last, err := t.Rate(l.key)
		if err != nil {
			return err
		}
		var wait time.Duration
		if next[i], wait = due(last, t.now, l.perMinute, t.b.rates.Burst); wait > 0 {
			return refuse(CodeRateLimited, "[ERROR] Rate limit: %d messages a minute %s, %d at once. Try again in %s",
				l.perMinute, l.what, t.b.rates.Burst, wait.Round(100*time.Millisecond))
		}
	}
	for i, l := range limits {
		if err := t.SetRate(l.key, next[i]); err != nil {
			return err
		}
	}
	return nil
}

// attempts bounds how fast one agent can make this broker write: attempts are
// recorded, also refused ones, and waits are rows, so they have a limit. What
// goes beyond it is refused without a record, and counted.
type attempts struct {
	mu sync.Mutex
	of map[string]attempt
}

// attempt is what is remembered of one agent's.
type attempt struct {
	last time.Time
	over int64 // beyond the rate, and not counted in the store yet
}

// maxAttemptKeys is the number of agents that attempts remembers; forgetting
// them all is safe, since each then has no more than one more burst.
const maxAttemptKeys = 100_000

func (a *attempts) admit(who Identity) bool {
	if who.operator {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil || len(a.of) >= maxAttemptKeys {
		a.of = map[string]attempt{}
	}
	own := a.of[who.agent]
	var wait time.Duration
	if own.last, wait = due(own.last, time.Now(), attemptBurst, attemptBurst); wait > 0 {
		own.over++
	}
	a.of[who.agent] = own
	return wait == 0
}

// admitSome is how many of n at once are admitted.
func (a *attempts) admitSome(who Identity, n int) int {
	for i := range n {
		if !a.admit(who) {
			return i
		}
	}
	return n
}

// takeOver is how often an agent has tried beyond its rate since it was last taken.
func (a *attempts) takeOver(agent string) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	own := a.of[agent]
	n := own.over
	if n > 0 {
		own.over = 0
		a.of[agent] = own
	}
	return n
}

// giveBack is for what was taken, and then not written.
func (a *attempts) giveBack(taken map[string]int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for agent, n := range taken {
		if own, ok := a.of[agent]; ok {
			own.over += n
			a.of[agent] = own
		}
	}
}

// over are the agents who have tried beyond their rate since that was taken.
func (a *attempts) over() (agents []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for agent, own := range a.of {
		if own.over > 0 {
			agents = append(agents, agent)
		}
	}
	return agents
}

func tooOften() *Error {
	return refuse(CodeRateLimited, "too many requests: at most %d a minute", attemptBurst)
}

// nobody is the refusal of a caller without an identity.
func nobody() *Error {
	return refuse(permission.CodeNoIdentity, "the request comes from no known agent")
}
