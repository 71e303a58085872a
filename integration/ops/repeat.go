package ops

import (
	"strconv"
	"strings"
)

// Batch is one operation done again and again by one process, so that nothing
// but the operation lies between two of them: what races count.
type Batch struct {
	Op     Op     `json:"op"` // "#" in an argument stands for the number
	From   int    `json:"from"`
	N      int    `json:"n"`
	Inside string `json:"inside"` // what an operation that worked gives
}

// Numbered is operation i of the batch.
func (b Batch) Numbered(i int) Op {
	op := Op{Verb: b.Op.Verb, Args: make([][]byte, len(b.Op.Args))}
	number := strconv.Itoa(b.From + i)
	for k := range op.Args {
		op.Args[k] = []byte(strings.ReplaceAll(b.Op.Arg(k), "#", number))
	}
	return op
}

// Tally is what came of a batch.
type Tally struct {
	Worked int            `json:"worked"`
	Failed map[string]int `json:"failed"` // by rule or errno
	Other  map[string]int `json:"other"`  // worked, but gave this instead
	Last   string         `json:"last"`   // the text of the last failure
}

// NewTally has nothing in it.
func NewTally() Tally { return Tally{Failed: map[string]int{}, Other: map[string]int{}} }

// Add puts more in.
func (t *Tally) Add(more Tally) {
	t.Worked += more.Worked
	for why, n := range more.Failed {
		t.Failed[why] += n
	}
	for data, n := range more.Other {
		t.Other[data] += n
	}
	if more.Last != "" {
		t.Last = more.Last
	}
}

// Repeater is an executor that has a quicker way for batches than one
// operation after the other.
type Repeater interface{ Repeat(Batch) (Tally, error) }

// Repeat does a batch. The error is that of the way to the executor.
func Repeat(e Executor, b Batch) (Tally, error) {
	if r, ok := e.(Repeater); ok {
		return r.Repeat(b)
	}
	t := NewTally()
	for i := range b.N {
		switch res := e.Do(b.Numbered(i)); {
		case !res.OK():
			t.Failed[res.why()]++
			t.Last = res.Text
		case string(res.Data) == b.Inside:
			t.Worked++
		default:
			t.Other[string(res.Data)]++
		}
	}
	return t, nil
}

// why is a failure in one word, where there is one.
func (r Result) why() string {
	switch {
	case r.Rule != "":
		return r.Rule
	case r.Errno != "":
		return r.Errno
	}
	return r.Text
}
