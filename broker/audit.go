package broker

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"github.com/pinfold-dev/pinfold/access"
)

// bounded is the record with its texts as a store takes them, and cut: an agent
// has a say in some of them.
func (r Record) bounded() Record {
	for _, text := range []*string{&r.Principal, &r.Action, &r.Resource, &r.Tool, &r.Reason, &r.Rule} {
		*text = storable(*text)
		if runes := []rune(*text); len(runes) > maxRecordText {
			*text = string(runes[:maxRecordText]) + "…"
		}
	}
	return r
}

// digest is the record's Hash: of every field but the sequence, each with its
// length before it, so that nothing can move from one into the next. Its place
// is told by Prev, so that a record that was moved is told from one that was
// changed.
func (r *Record) digest() Hash {
	h := sha256.New()
	for _, field := range []string{
		"pinfold record 1", string(r.Prev), strconv.FormatInt(r.Time.UnixMicro(), 10), r.Principal, r.Action, r.Resource,
		r.Tool, string(r.Effect), string(r.Code), r.Reason, r.Rule, r.PolicyHash, r.RequestID,
	} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(field)))
		h.Write(n[:])
		h.Write([]byte(field))
	}
	return Hash(hex.EncodeToString(h.Sum(nil)))
}

// appendRecords chains what was recorded to what is there.
func (t *tx) appendRecords() error {
	if err := t.withinBounds(); err != nil || len(t.records) == 0 {
		return err
	}
	head, err := t.Head()
	if err != nil {
		return err
	}
	records := make([]Record, len(t.records))
	for i, r := range t.records {
		r.Seq, r.Prev = head.Seq+1, head.Hash
		r.Hash = r.digest()
		head = Head{r.Seq, r.Hash}
		records[i] = r.Record
	}
	t.Notify("audit")
	return t.Append(records, head)
}

// recordOf is what is written of a policy's decision.
func recordOf(d access.Decision, policyHash string) Record {
	r := Record{Principal: d.Principal, Action: string(d.Action), Resource: d.Resource, Tool: d.Tool, Effect: d.Effect, Code: d.Code, Rule: d.Rule, PolicyHash: policyHash}
	if !d.Allowed() {
		r.Reason = d.Reason()
	}
	return r
}

// Record writes a decision that was made elsewhere: by a view or a skill under
// the agent's policy. It is on disk when Record returns, or counted where the agent's
// room for such is used up.
func (b *Broker) Record(ctx context.Context, who Identity, d access.Decision) error {
	if !b.attempts.admit(who) {
		return tooOften()
	}
	return b.update(ctx, func(t *tx) error {
		a, err := live(t, who)
		if err != nil {
			return err
		}
		d.Principal = who.agent
		t.recordAttempt(recordOf(d, a.PolicyHash))
		return nil
	})
}

// Records are records of the audit, for the operator. At most 1000 are returned
// at once: go on with AfterSeq.
func (b *Broker) Records(ctx context.Context, who Identity, f RecordFilter) ([]Record, error) {
	if !who.operator {
		return nil, refuse(CodeOperatorOnly, "only the operator may read the audit")
	}
	if f.Limit <= 0 || f.Limit > recordPage {
		f.Limit = recordPage
	}
	var list []Record
	err := b.view(ctx, func(tx ReadTx) (err error) {
		list, err = tx.Records(f)
		return err
	})
	return list, err
}

// Head is the end of the audit, to be kept elsewhere: given to Verify it shows
// records that were cut off or written anew.
func (b *Broker) Head(ctx context.Context, who Identity) (Head, error) {
	if !who.operator {
		return Head{}, refuse(CodeOperatorOnly, "only the operator may read the audit")
	}
	var head Head
	err := b.view(ctx, func(tx ReadTx) (err error) {
		head, err = tx.Head()
		return err
	})
	return head, err
}
