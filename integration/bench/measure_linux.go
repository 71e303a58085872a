package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/pinfold-dev/pinfold/integration/bench/brokerbench"
	"github.com/pinfold-dev/pinfold/integration/bench/figures"
	"github.com/pinfold-dev/pinfold/integration/bench/mcpbench"
	"github.com/pinfold-dev/pinfold/integration/bench/resolverbench"
	"github.com/pinfold-dev/pinfold/integration/bench/rulesbench"
	"github.com/pinfold-dev/pinfold/integration/bench/viewbench"
)

// nobody is the ordinary user of the bench: it owns nothing but what it is
// given, and has no rights.
const nobody = 65534

// Rounds of every row, unless --rounds says otherwise, so that all halves
// together take some twenty minutes on two quiet CPUs. A round of the resolver
// takes about a second, one of the views up to two minutes, most of which is
// grep, rg and large_sync in the peers, and one of mcp some six seconds, most
// of which is the official server's search.
// Those of rules are short and their differences small.
const resolverRounds, viewRounds, mcpRounds, rulesRounds = 41, 3, 11, 21

// measure makes the tables that were asked for, in dir, and reports. Tables
// that were begun when ctx ended are reported as far as they are.
func measure(ctx context.Context, o options, dir string, stdout, stderr *os.File) error {
	var p figures.Progress
	if term.IsTerminal(int(stderr.Fd())) {
		p.W = stderr
	}
	r := newReport(o)
	r.printHead(stdout)
	err := measureHalves(ctx, o, dir, p, r)
	p.Done()
	r.end()
	r.print(stdout)
	if o.json != "" {
		if err := r.write(o.json); err != nil {
			return err
		}
	}
	return err
}

func measureHalves(ctx context.Context, o options, dir string, p figures.Progress, r *report) error {
	if slices.Contains(o.halves, resolverbench.Name) {
		if err := measureResolver(ctx, o, mustDir(dir, "resolver"), p, r); err != nil {
			return err
		}
	}
	v := viewbench.Options{Tree: filepath.Join(dir, "tree"), Bin: filepath.Join(dir, "bin"),
		Dir: mustDir(dir, "env"), Quick: o.quick, Kinds: o.kinds()}
	if slices.Contains(o.halves, rootHalf) && os.Geteuid() == 0 {
		v.Name, v.Title = rootHalf, "View, as root"
		if err := measureView(ctx, o, v, p, r); err != nil {
			return err
		}
	}
	if slices.Contains(o.halves, userHalf) {
		v.Name, v.Title = userHalf, "View, as an ordinary user"
		if os.Geteuid() == 0 {
			v.User = &syscall.Credential{Uid: nobody, Gid: nobody}
		}
		if err := measureView(ctx, o, v, p, r); err != nil {
			return err
		}
	}
	if slices.Contains(o.halves, mcpbench.Name) {
		if err := measureMCP(ctx, o, dir, p, r); err != nil {
			return err
		}
	}
	if slices.Contains(o.halves, rulesbench.Name) {
		if err := measureRules(ctx, o, v, dir, p, r); err != nil {
			return err
		}
	}
	if slices.Contains(o.halves, brokerbench.Name) {
		return measureBroker(ctx, o, dir, p, r)
	}
	return nil
}

func measureMCP(ctx context.Context, o options, dir string, p figures.Progress, r *report) error {
	m := mcpbench.Options{Tree: mustDir(dir, "mcp"), Bin: filepath.Join(dir, "bin"), Files: 20_000, Calls: 300}
	if o.quick {
		m.Files, m.Calls = 1000, 30
	}
	b, err := mcpbench.Start(m)
	if err != nil {
		return err
	}
	defer b.Close()
	h := b.Half()
	r.Halves = append(r.Halves, h)
	if err := fill(ctx, h, o.pick(b.Work()), o.roundsOr(mcpRounds), p); err != nil || !matches(o.rows, mcpbench.AllocsRow) {
		return err
	}
	p.Say("%s %s", mcpbench.Name, mcpbench.AllocsRow)
	r.Allocations, err = mcpbench.Allocations(ctx, mustDir(dir, "allocs"), m.Calls)
	return err
}

func measureResolver(ctx context.Context, o options, dir string, p figures.Progress, r *report) error {
	b, err := resolverbench.New(dir)
	if err != nil {
		return err
	}
	defer b.Close()
	repeat := 1.0
	if o.quick {
		repeat = 0.1
	}
	h := b.Half()
	r.Halves = append(r.Halves, h)
	if err := fill(ctx, h, o.pick(b.Work(repeat)), o.roundsOr(resolverRounds), p); err != nil {
		return err
	}
	for _, g := range resolverbench.AllocationGoals() {
		if !matches(o.rows, g.Row) {
			continue
		}
		n, err := b.Allocations(g.Row, g.Column)
		if err != nil {
			return err
		}
		h.Notes = append(h.Notes, fmt.Sprintf("allocations of %s %s: %.2f (at most %.0f): %s", g.Row, g.Column, n, g.Max, passOrMiss(n < g.Max+0.01)))
	}
	return nil
}

func passOrMiss(ok bool) string {
	if ok {
		return figures.Pass
	}
	return figures.Miss
}

func measureView(ctx context.Context, o options, v viewbench.Options, p figures.Progress, r *report) error {
	b, err := viewbench.Start(ctx, v, p)
	if err != nil {
		return err
	}
	defer b.Close()
	h := b.Half()
	r.Halves = append(r.Halves, h)
	b.Arrangement(ctx)
	return fill(ctx, h, o.pick(append(b.Work(), b.HostEdit())), o.roundsOr(viewRounds), p)
}

// fill measures the rows of a half, and notes how long that took: who wants
// more rounds knows what they cost.
func fill(ctx context.Context, h *figures.Half, rows []figures.Work, rounds int, p figures.Progress) error {
	began := time.Now()
	err := h.Run(ctx, rows, rounds, p)
	h.Notes = append(h.Notes, fmt.Sprintf("took %v with --rounds %d", time.Since(began).Round(time.Second), rounds))
	return err
}
