package main

import (
	"slices"

	"github.com/pinfold-dev/pinfold/integration/bench/brokerbench"
	"github.com/pinfold-dev/pinfold/integration/bench/figures"
	"github.com/pinfold-dev/pinfold/integration/bench/mcpbench"
	"github.com/pinfold-dev/pinfold/integration/bench/resolverbench"
	"github.com/pinfold-dev/pinfold/integration/bench/rulesbench"
	"github.com/pinfold-dev/pinfold/integration/bench/viewbench"
)

// bound is one number for several rows of the view, over another column.
type bound struct {
	rows []string
	over string
	max  float64
	user float64 // as an ordinary user; 0: the same
	must bool
}

// bounds are first those that have to hold now, then where it is to go.
// A quarter of the loopback's ratio to native is a quarter of its time, since
// both stand over the same native figure.
var bounds = []bound{
	{rows: []string{"stat", "missing"}, over: "native", max: 1.5, must: true},
	{rows: []string{"walk_second", "git_status"}, over: "native", max: 2.5, must: true},
	{rows: []string{"large_read", "large_write"}, over: "native", max: 1.2, user: none, must: true},
	{rows: []string{"open", "read_small", "grep", "rg"}, over: "loopback", max: 0.25, must: true},

	{rows: []string{"open", "read_small"}, over: "native", max: 2},
	{rows: []string{"stat", "missing"}, over: "native", max: 1.3},
	{rows: []string{"walk_second", "find", "git_status"}, over: "native", max: 1.5},
	{rows: []string{"grep", "rg"}, over: "native", max: 2},
	{rows: []string{"open_cold"}, over: "native", max: 2.5},
	{rows: []string{"large_read", "large_write", "overwrite", "append", "mmap_read", "mmap_write"}, over: "native", max: 1.1, user: 2.5},
	{rows: []string{"create", "unlink", "rename", "tar_x", "rm_rf", "git_clone"}, over: "native", max: 4},
}

// hostEditBound is how long a change from outside may stay unseen in the part
// of the view that only reads, in nanoseconds.
const hostEditBound = 1e9

// none marks a bound that an ordinary user's half does not have.
const none = -1

// costly are the rows where many rules would show.
var costly = []string{"open", "read_small", "stat", "missing", "walk_first", "walk_second", "find", "grep", "create"}

func goals() []figures.Goal {
	all := slices.Concat(resolverbench.Goals(), mcpbench.Goals(), rulesbench.Goals(), brokerbench.Goals())
	for _, half := range []string{rootHalf, userHalf} {
		for _, b := range bounds {
			most := b.max
			if half == userHalf && b.user != 0 {
				most = b.user
			}
			if most == none {
				continue
			}
			for _, row := range b.rows {
				all = append(all, figures.Goal{Half: half, Row: row, Column: viewbench.Pinfold, OverColumn: b.over, Max: most, Must: b.must})
			}
		}
		all = append(all, figures.Goal{Half: half, Row: viewbench.ProbeRow, Column: viewbench.Pinfold, Max: hostEditBound, Must: true})
		all = append(all, figures.Goal{Half: half, Row: "parallel64", Column: viewbench.Pinfold, OverRow: "read_small", OverColumn: viewbench.Pinfold, Max: 1})
		for _, extra := range []string{"hide1000", "wp100"} {
			for _, row := range costly {
				all = append(all, figures.Goal{Half: half, Row: row, Column: extra, OverColumn: viewbench.Pinfold, Max: 1.05, Extra: true})
			}
		}
	}
	return all
}
