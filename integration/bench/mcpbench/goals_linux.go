package mcpbench

import "github.com/pinfold-dev/pinfold/integration/bench/figures"

// Goals are the bounds for pinfold, all in one run. That of edits belongs to
// the rows that compare like with like.
func Goals() []figures.Goal {
	over := func(row string, most float64) figures.Goal {
		return figures.Goal{Half: Name, Row: row, Column: pinfold, OverColumn: bare, Max: most, Must: true}
	}
	within := func(row string, most float64) figures.Goal {
		return figures.Goal{Half: Name, Row: row, Column: pinfold, Max: most, Must: true}
	}
	return []figures.Goal{
		over("read_1k", 1.3),
		over(editNoSync, 1.3),
		over(editFsync, 1.3),
		over(editDurable, 1.3),
		// A lasting edit over one that waits for nothing: with the disk's own
		// time in it, which no code of ours can take out, it is not a must.
		{Half: Name, Row: editDurable, Column: pinfold, OverRow: editNoSync, OverColumn: bare, Max: 1.3},
		over("glob", 30.0/18),
		over("grep", 150.0/170),
		within("read_10m", 3e6),
		within(StartRow, 10e6),
	}
}
