package integration

import (
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/cases"
	"github.com/pinfold-dev/pinfold/integration/ops"
)

// count is what came of the operations of a race.
type count struct {
	ops.Tally
	done, escaped int
	swaps         int // what the attacker did meanwhile
}

// viewedRest is how long an attacker of many names in a view rests after each
// round: the server is told of each swap, and would do nothing else.
const viewedRest = 20 * time.Microsecond

// batchLimit is how long a batch may take.
const batchLimit = time.Minute

// run races operations against the attacker until there are enough. Before
// the attack the operation works.
func (r race) run(g *ground, e ops.Executor, enough func(c count, took time.Duration) bool) count {
	c := r.batchOf(g, e, 0, 1)
	require.Equal(g.t, 1, c.Worked, "%s does not work before the attack: %s %v", r.op, c.Last, c.Other)
	c = count{Tally: ops.NewTally()}
	rest := time.Duration(0)
	if g.inView && r.fresh && !r.restless {
		rest = viewedRest
	}
	cmd := exec.Command(insiderPath, append([]string{r.attack[0], rest.String()}, r.attack[1:]...)...)
	cmd.Dir = g.root
	attacker := startPeer(g.t, cmd, g.uid)
	for begin := time.Now(); !enough(c, time.Since(begin)); {
		more := r.batchOf(g, e, c.done+1, r.size())
		c.Add(more.Tally)
		c.done += more.done
		c.escaped += more.escaped
	}
	require.NoError(g.t, attacker.in.Close())
	_, err := fmt.Fscan(attacker.out, &c.swaps)
	require.NoError(g.t, err, "the attacker ended early: %s", attacker.stderr)
	return c
}

// size is how many operations a batch has.
func (r race) size() int {
	switch {
	case r.batch > 0:
		return r.batch
	case r.fresh:
		return batchFresh
	}
	return batchUsual
}

// batchOf does the operations from the given number on, and looks what they
// did to the disk.
func (r race) batchOf(g *ground, e ops.Executor, from, n int) count {
	number := func(i int) string { return strconv.Itoa(from + i) }
	if r.prepare != nil {
		for i := range n {
			r.prepare(g, number(i))
		}
	}
	c := count{Tally: repeat(g, e, ops.Batch{Op: r.op, From: from, N: n, Inside: r.inside}), done: n}
	for data, times := range c.Other {
		require.True(g.t, cases.Leaks([]byte(data)), "neither inside nor outside: %q", data)
		c.escaped += times
	}
	for i := range n {
		if r.escaped != nil && r.escaped(g, number(i)) {
			c.escaped++
		}
		if r.clear != nil {
			r.clear(g, number(i))
		}
	}
	return c
}

// repeat bounds a batch. The process of one that hangs is killed.
func repeat(g *ground, e ops.Executor, b ops.Batch) (tally ops.Tally) {
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		tally, err = ops.Repeat(e, b)
	}()
	timer := time.NewTimer(batchLimit)
	defer timer.Stop()
	select {
	case <-done:
		require.NoError(g.t, err)
	case <-timer.C:
		if a, ok := e.(actor); ok {
			a.stop()
		}
		require.Fail(g.t, ops.ErrHang.Error(), "%s %d", b.Op, b.From)
	}
	return tally
}
