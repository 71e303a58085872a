package broker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/pinfold-dev/pinfold/access"
)

// Usage is what one agent, or one of the operator's agents with all beneath it, has
// made the broker keep of one kind, and how much of that was left out.
type Usage struct {
	Owner   string    `json:"owner"` // an agent's id, with "/" behind it for all beneath it too; "" for callers that are no agent
	Kind    UsageKind `json:"kind"`
	Bytes   int64     `json:"bytes"`
	LeftOut int64     `json:"left_out"` // attempts that have no record of their own
	Told    int64     `json:"-"`        // how many of them the last record about them told
	First   time.Time `json:"first,omitzero"`
	Last    time.Time `json:"last,omitzero"` // of those that were left out
}

// UsageKind says what is kept. Each kind has a bound of its own, so that a flood of
// refusals leaves no room out for what was allowed.
type UsageKind string

// The kinds of what is kept of an agent.
const (
	UsageRefused UsageKind = "refused" // records of attempts that were refused, or have to be asked for
	UsageAllowed UsageKind = "allowed" // records of calls that its policy allows
	UsageRows    UsageKind = "rows"    // requests, messages and agents, with the records of what became of them
)

// What a row counts for at least, beside its texts.
const (
	costRecord  = 1 << 10
	costMessage = 1 << 10
	costRequest = 4 << 10 // it is recorded up to four times
	costAgent   = 8 << 10 // it is hired, starts, ends, and tells so
)

// A purse is a usage and its bound.
type purse struct {
	Usage
	most int64
}

// purses are what a thing of an agent's counts against: its own, and that of all the
// agents beneath the same one of the operator's.
func (t *tx) purses(agent string, kind UsageKind) ([]purse, error) {
	own, err := t.Agent(agent)
	if errors.Is(err, ErrNotFound) {
		u, err := t.Usage("", kind)
		return []purse{{u, t.b.keep}}, err
	}
	top := own
	for n := 0; err == nil && top.ParentID != "" && n < maxDepth; n++ {
		top, err = t.Agent(top.ParentID)
	}
	if err != nil {
		return nil, err
	}
	mine, err := t.Usage(own.ID, kind)
	if err != nil {
		return nil, err
	}
	all, err := t.Usage(treeOf(top.ID), kind)
	return []purse{{mine, t.b.keep}, {all, keepOfTree(t.b.keep)}}, err
}

// treeOf owns what an agent and all beneath it have used. No agent is called so.
func treeOf(id string) string { return id + "/" }

// keepOfTree is the bound of a tree of agents.
func keepOfTree(keep int64) int64 {
	if keep > math.MaxInt64/treeKeeps {
		return math.MaxInt64
	}
	return keep * treeKeeps
}

// spend counts bytes against an agent's purses, unless one of them has no room: then
// it counts nothing, and returns that one.
func (t *tx) spend(agent string, kind UsageKind, bytes int) (full *purse, err error) {
	list, err := t.purses(agent, kind)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if int64(bytes) > list[i].most-list[i].Bytes {
			return &list[i], nil
		}
	}
	for _, p := range list {
		p.Bytes += int64(bytes)
		if err := t.PutUsage(p.Usage); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// keep makes room for a row of an agent's, or refuses it and counts nothing. What the
// operator does has no bound.
func (t *tx) keep(who Identity, bytes int) error {
	if who.operator {
		return nil
	}
	full, err := t.spend(who.agent, UsageRows, bytes)
	if full == nil {
		return err
	}
	whose := "'" + who.agent + "'"
	if full.Owner != who.agent {
		whose = "the agents that '" + who.agent + "' belongs to"
	}
	return refuse(CodeTooMany, "the broker keeps requests, messages and agents of %s up to %d bytes in all, and these are used up", whose, full.most)
}

// withinBounds leaves out the records of attempts for which there is no more room, and
// counts them instead.
func (t *tx) withinBounds() error {
	noted := t.records
	t.records = nil
	for _, r := range noted {
		if !r.attempt {
			t.records = append(t.records, r)
			continue
		}
		kind := UsageRefused
		if r.Effect == access.Allow {
			kind = UsageAllowed
		}
		full, err := t.spend(r.Principal, kind, r.bytes())
		switch {
		case err != nil:
			return err
		case full == nil:
			t.records = append(t.records, r)
		default:
			if err := t.leaveOut(full.Usage, 1); err != nil {
				return err
			}
		}
		if err := t.countRefusedByRate(r.Principal); err != nil {
			return err
		}
	}
	return nil
}

// bytes is what a request counts for. What it is about stands in each of its records.
func (r *Request) bytes() int {
	n := costRequest + 4*(len(r.Resource)+len(r.Tool)) + len(r.Input) + len(r.Reason)
	for _, also := range r.Also {
		n += len(also.Action) + len(also.Resource)
	}
	return n
}

// bytes is what an agent counts for, without its policy.
func (a *Agent) bytes() int {
	n := costAgent + len(a.Cwd) + len(a.Model) + len(a.Route) + len(a.Task) + len(a.Launch)
	for _, text := range append(slices.Clone(a.Tools), a.Resume...) {
		n += len(text)
	}
	return n
}

// bytes is what a record counts for.
func (r *Record) bytes() int {
	return costRecord + len(r.Principal) + len(r.Action) + len(r.Resource) + len(r.Tool) + len(r.Reason) + len(r.Rule)
}

// countRefusedByRate counts what an agent has tried beyond its rate since this was
// last called.
func (t *tx) countRefusedByRate(agent string) error {
	n := t.b.attempts.takeOver(agent)
	if n == 0 {
		return nil
	}
	if t.over == nil {
		t.over = map[string]int64{}
	}
	t.over[agent] += n
	list, err := t.purses(agent, UsageRefused)
	if err != nil {
		return err
	}
	return t.leaveOut(list[0].Usage, n)
}

// leaveOut counts attempts that have no record. A record tells how many there are, each
// time that the number has doubled: so however many there come to be, few records tell of
// them, and the last one at least half.
func (t *tx) leaveOut(u Usage, n int64) error {
	if u.LeftOut == 0 {
		u.First = t.now
	}
	before := u.LeftOut
	u.LeftOut, u.Last = u.LeftOut+n, t.now
	if bits.Len64(uint64(before)) != bits.Len64(uint64(u.LeftOut)) {
		return t.tellLeftOut(u)
	}
	return t.PutUsage(u)
}

// tellLeftOut records how much was left out, in all.
func (t *tx) tellLeftOut(u Usage) error {
	effect := access.Deny
	if u.Kind == UsageAllowed {
		effect = access.Allow
	}
	u.Told = u.LeftOut
	t.record(Record{Principal: u.agent(), Action: "left_out", Resource: u.Owner, Effect: effect, Code: codeLeftOut, Reason: u.String()})
	return t.PutUsage(u)
}

// agent is whose usage it is.
func (u Usage) agent() string {
	if n := len(u.Owner); n > 0 && u.Owner[n-1] == '/' {
		return u.Owner[:n-1]
	}
	return u.Owner
}

// String says in a sentence what was left out.
func (u Usage) String() string {
	whose := "'" + u.agent() + "'"
	switch {
	case u.Owner == "":
		whose = "callers that are no agent"
	case u.Owner != u.agent():
		whose += " and the agents beneath it"
	}
	what := "refused attempts"
	if u.Kind == UsageAllowed {
		what = "allowed calls"
	}
	return fmt.Sprintf("%d %s of %s in all have no record of their own, from %s to %s",
		u.LeftOut, what, whose, u.First.Format(time.RFC3339), u.Last.Format(time.RFC3339))
}

// tellAllLeftOut records what was left out of an agent that ends, exactly.
func (t *tx) tellAllLeftOut(a Agent) error {
	if err := t.countRefusedByRate(a.ID); err != nil {
		return err
	}
	owners := []string{a.ID}
	if a.ParentID == "" {
		owners = append(owners, treeOf(a.ID))
	}
	for _, owner := range owners {
		for _, kind := range []UsageKind{UsageRefused, UsageAllowed} {
			u, err := t.Usage(owner, kind)
			if err == nil && u.Told != u.LeftOut {
				err = t.tellLeftOut(u)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// countAllRefusedByRate is for when nobody will ask this broker any more.
func (b *Broker) countAllRefusedByRate() {
	agents := b.attempts.over()
	if len(agents) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), recordTime)
	defer cancel()
	// A store that fails has not counted them; that they were refused stays true.
	_ = b.update(ctx, func(t *tx) error {
		for _, agent := range agents {
			if err := t.countRefusedByRate(agent); err != nil {
				return err
			}
		}
		return nil
	})
}

// LeftOut says, for the operator, how many attempts have no record of their own: of
// which agents, and when. It is exact, but for attempts beyond an agent's rate, which
// are counted with its next record, or when it or the broker ends.
func (b *Broker) LeftOut(ctx context.Context, who Identity) ([]Usage, error) {
	if !who.operator {
		return nil, refuse(CodeOperatorOnly, "only the operator may read the audit")
	}
	var list []Usage
	err := b.view(ctx, func(tx ReadTx) (err error) {
		list, err = tx.LeftOut()
		return err
	})
	return list, err
}
