package broker

import (
	"context"
	"fmt"
)

// TamperedError says where the audit is not what was written, and in which way:
// changed, removed, reordered, cut off, or written anew.
type TamperedError struct {
	Seq  int64 // the first record that is concerned
	what string
}

func (e *TamperedError) Error() string { return fmt.Sprintf("audit record %d %s", e.Seq, e.what) }

func tampered(seq int64, format string, args ...any) error {
	return &TamperedError{seq, fmt.Sprintf(format, args...)}
}

// Verify reads the whole audit and returns its head, or a *TamperedError for
// the first record that is not as it was written. kept is a Head that was kept
// elsewhere, or zero: without it, whoever can write the database can also
// write a whole new chain with a new head, which nothing in it would show.
func (b *Broker) Verify(ctx context.Context, who Identity, kept Head) (Head, error) {
	if !who.operator {
		return Head{}, refuse(CodeOperatorOnly, "only the operator may verify the audit")
	}
	v := verifier{b: b}
	if err := b.view(ctx, func(tx ReadTx) (err error) {
		v.head, err = tx.Head()
		return err
	}); err != nil {
		return Head{}, err
	}
	if err := v.chain(ctx, kept); err != nil {
		return Head{}, err
	}
	return v.head, nil
}

type verifier struct {
	b    *Broker
	head Head
}

// chain walks from the first record to the head.
func (v *verifier) chain(ctx context.Context, kept Head) error {
	last := Record{}
	err := v.each(ctx, func(r Record) error {
		switch {
		case r.Seq != last.Seq+1:
			return v.gap(ctx, last, r)
		case r.digest() != r.Hash:
			return tampered(r.Seq, "was changed: its content does not have its hash")
		case r.Prev != last.Hash:
			return v.misplaced(ctx, last, r)
		case r.Seq == kept.Seq && r.Hash != kept.Hash:
			return tampered(r.Seq, "was written anew: its hash is %s, and %s was kept", r.Hash, kept.Hash)
		}
		last = r
		return nil
	})
	switch {
	case err != nil:
		return err
	case last.Seq < v.head.Seq:
		return tampered(last.Seq+1, "and all after it were cut off: the audit had %d", v.head.Seq)
	case last.Seq < kept.Seq:
		return tampered(last.Seq+1, "and all after it were cut off: the audit had %d when its head was kept", kept.Seq)
	case last.Hash != v.head.Hash:
		return tampered(last.Seq, "was changed: its hash is not the head's")
	}
	return nil
}

// gap tells a record that is missing from one that was put after the end.
func (v *verifier) gap(ctx context.Context, last, r Record) error {
	if found, err := v.find(ctx, r.Prev); err != nil {
		return err
	} else if found && r.Prev != last.Hash {
		return tampered(r.Seq, "was reordered: it was written after another record than the one before it")
	}
	return tampered(last.Seq+1, "was removed: %d follows %d", r.Seq, last.Seq)
}

// misplaced tells why a record that is itself as it was written does not follow
// the one before it.
func (v *verifier) misplaced(ctx context.Context, last, r Record) error {
	found, err := v.find(ctx, r.Prev)
	switch {
	case err != nil:
		return err
	case found || r.Prev == "":
		return tampered(r.Seq, "was reordered: it was written after another record than the one before it")
	case v.fewer(ctx):
		return tampered(r.Seq, "follows a record that was removed, and the numbers after it were changed")
	}
	return tampered(last.Seq, "was changed, and its hash with it: the next record was written after another one")
}

// fewer reports whether there are fewer records than the head says.
func (v *verifier) fewer(ctx context.Context) bool {
	n := int64(0)
	err := v.each(ctx, func(Record) error { n++; return nil })
	return err == nil && n < v.head.Seq
}

// find reports whether a record has a hash.
func (v *verifier) find(ctx context.Context, hash Hash) (found bool, err error) {
	err = v.each(ctx, func(r Record) error {
		found = found || r.Hash == hash
		return nil
	})
	return found, err
}

// each reads the records up to the head, page by page.
func (v *verifier) each(ctx context.Context, fn func(Record) error) error {
	after := int64(0)
	for {
		var page []Record
		if err := v.b.view(ctx, func(tx ReadTx) (err error) {
			page, err = tx.Records(RecordFilter{AfterSeq: after, Limit: recordPage})
			return err
		}); err != nil {
			return err
		}
		for _, r := range page {
			if r.Seq > v.head.Seq {
				return nil // appended meanwhile
			}
			if err := fn(r); err != nil {
				return err
			}
			after = r.Seq
		}
		if len(page) < recordPage {
			return nil
		}
	}
}
