package brokerhttp

import (
	"errors"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/broker"
)

// audit is a page of records; with wait, it waits for one where there is none.
func (c *call) audit() (any, error) {
	after, err := c.number("after", 0)
	if err != nil {
		return nil, err
	}
	limit, err := c.number("limit", maxPage)
	if err != nil {
		return nil, err
	}
	ctx, cancel, err := c.waiting(maxWait)
	if err != nil {
		return nil, err
	}
	defer cancel()
	wake, stop := c.s.b.Watch(c.who)
	defer stop()
	for {
		records, err := c.s.b.Records(c.Context(), c.who, broker.RecordFilter{AfterSeq: after, Limit: int(min(limit, maxPage))})
		if err != nil || len(records) > 0 {
			return list(records, err)
		}
		c.turn.Leave()
		select {
		case <-wake:
		case <-ctx.Done():
			return list(records, nil)
		}
		c.turn.Enter()
	}
}

// verify says whether the chain is whole. That it is not is an answer, no error.
func (c *call) verify() (any, error) {
	var kept broker.Head
	if text := c.URL.Query().Get("head"); text != "" {
		seq, hash, _ := strings.Cut(text, ":")
		n, err := strconv.ParseInt(seq, 10, 64)
		if err != nil || n < 0 || hash == "" && n > 0 {
			return nil, fault(broker.CodeInvalid, "head=%q: want NUMBER:HASH, as verify prints it", text)
		}
		kept = broker.Head{Seq: n, Hash: broker.Hash(hash)}
	}
	c.takesLong(verifyTime)
	head, err := c.s.b.Verify(c.Context(), c.who, kept)
	var broken *broker.TamperedError
	if errors.As(err, &broken) {
		return Verified{Problem: broken.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	left, err := c.s.b.LeftOut(c.Context(), c.who)
	return Verified{OK: err == nil, Head: head, LeftOut: left}, err
}

// denials records what the caller's view has refused.
func (c *call) denials() (any, error) {
	var body broker.Denials
	if err := c.body(&body); err != nil {
		return nil, err
	}
	n, err := c.s.b.RecordDenials(c.Context(), c.who, body)
	return recorded{Recorded: n}, err
}
