package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pinfold-dev/pinfold/access"
)

// Denial is what an agent's view has refused, and how often.
type Denial struct {
	Action   access.Action `json:"action"`
	Resource string        `json:"resource"` // relative to the agent's directory where it lies there
	Code     access.Code   `json:"code"`
	Rule     string        `json:"rule,omitempty"`   // that decided
	Reason   string        `json:"reason,omitempty"` // what was tried, and by which program
	Times    int           `json:"times,omitempty"`  // in a row of the same; 0 is once
}

// Denials are some of an agent's, and how many its view could not tell of.
type Denials struct {
	Items    []Denial `json:"items"`              // at most 1000
	LeftOut  int64    `json:"left_out,omitempty"` // refused, and not among Items
	Unjudged int64    `json:"unjudged,omitempty"` // came too fast to be judged, and may have been refused
}

// RecordDenials writes what an agent's view has refused; it returns how many records that
// were. What is beyond the agent's rate or its room is counted instead (Usage). The rate
// is one of its own: a program that is refused a lot may ask and send as before. An agent
// may tell such things of itself and of nobody else, and only that they were refused. Its
// view tells what it has until its process is gone, also after it was fired.
func (b *Broker) RecordDenials(ctx context.Context, who Identity, told Denials) (recorded int, err error) {
	if len(told.Items) > maxDenials {
		return 0, refuse(CodeTooLarge, "at most %d refusals are recorded at once", maxDenials)
	}
	if told.LeftOut < 0 || told.Unjudged < 0 {
		return 0, refuse(CodeInvalid, "a number of refusals is negative")
	}
	for _, d := range told.Items {
		if !slices.Contains(access.Actions(), d.Action) {
			return 0, refuse(CodeInvalid, "unknown action %q", shown(string(d.Action), maxShown))
		}
	}
	if !b.denials.admit(who) { // the telling costs a transaction
		return 0, tooOften()
	}
	kept := b.denials.admitSome(who, len(told.Items))
	beyond := min(told.LeftOut, maxLeftOut) + int64(len(told.Items)-kept)
	err = b.update(ctx, func(t *tx) error {
		a, err := t.Agent(who.agent)
		if errors.Is(err, ErrNotFound) || err == nil && !a.EndedAt.IsZero() {
			return nobody()
		}
		if err != nil {
			return err
		}
		for _, d := range told.Items[:kept] {
			reason := d.Reason
			if d.Times > 1 {
				reason += fmt.Sprintf(", %d times", d.Times)
			}
			t.recordAttempt(Record{
				Principal: a.ID, Action: string(d.Action), Resource: d.Resource, Effect: access.Deny, Code: d.Code,
				Reason: reason, Rule: d.Rule, PolicyHash: a.PolicyHash,
			})
		}
		if told.Unjudged > 0 {
			t.recordAttempt(Record{
				Principal: a.ID, Action: "left_out", Resource: a.ID, Effect: access.Deny, Code: codeLeftOut, PolicyHash: a.PolicyHash,
				Reason: fmt.Sprintf("%d attempts or more of '%s' came too fast to be judged, and may have been refused", told.Unjudged, a.ID),
			})
		}
		if beyond == 0 {
			return nil
		}
		list, err := t.purses(a.ID, UsageRefused)
		if err != nil {
			return err
		}
		return t.leaveOut(list[0].Usage, beyond)
	})
	if err != nil {
		return 0, err
	}
	return kept, nil
}
