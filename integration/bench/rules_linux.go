package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/pinfold-dev/pinfold/integration/bench/figures"
	"github.com/pinfold-dev/pinfold/integration/bench/rulesbench"
	"github.com/pinfold-dev/pinfold/integration/bench/viewbench"
)

// measureRules makes the two tables about the number of rules: Check by
// itself, and the view as whoever runs the bench.
func measureRules(ctx context.Context, o options, v viewbench.Options, dir string, p figures.Progress, r *report) error {
	b, err := rulesbench.New(rulesbench.Sizes())
	if err != nil {
		return err
	}
	calls := 2_000 // about a millisecond: less than the system leaves a thread its CPU
	if o.quick {
		calls = 500
	}
	h := b.Half()
	r.Halves = append(r.Halves, h)
	if err := fill(ctx, h, o.pick(b.Work(calls)), o.roundsOr(rulesRounds), p); err != nil {
		return err
	}
	for _, c := range h.Columns {
		n := b.Allocations(ctx, c)
		h.Notes = append(h.Notes, fmt.Sprintf("allocations of a Check, %s: %.2f (at most 0): %s", c, n, passOrMiss(n < 0.01)))
	}
	v.Name, v.Title, v.User = rulesbench.ViewName, "Policies: the view with 1,000 rules against none", nil
	if v.Kinds, err = rulesbench.ViewKinds(mustDir(dir, "rules")); err != nil {
		return err
	}
	view, err := viewbench.Start(ctx, v, p)
	if err != nil {
		return err
	}
	defer view.Close()
	h = view.Half()
	h.Base = rulesbench.Without
	r.Halves = append(r.Halves, h)
	rows := slices.DeleteFunc(view.Work(), func(w figures.Work) bool {
		return !slices.Contains(rulesbench.ViewRows(), w.Name) || os.Geteuid() != 0 && (w.Name == "open_cold" || w.Name == "walk_first")
	})
	return fill(ctx, h, o.pick(rows), o.roundsOr(rulesRounds), p)
}
