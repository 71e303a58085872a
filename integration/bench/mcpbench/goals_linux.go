package mcpbench

import "github.com/pinfold-dev/pinfold/integration/bench/figures"

// Goals are the bounds for pinfold, all in one run.
func Goals() []figures.Goal {
	over := func(row string, most float64) figures.Goal {
		return figures.Goal{Half: Name, Row: row, Column: pinfold, OverColumn: bare, Max: most, Must: true}
	}
	within := func(row string, most float64) figures.Goal {
		return figures.Goal{Half: Name, Row: row, Column: pinfold, Max: most, Must: true}
	}
	return []figures.Goal{
		over("read_1k", 1.3),
		over("edit_1k", 1.3),
		over("glob", 30.0/18),
		over("grep", 150.0/170),
		within("read_10m", 3e6),
		within(StartRow, 10e6),
	}
}
