package resolverbench

import "github.com/pinfold-dev/pinfold/integration/bench/figures"

// Goals are the bounds that the resolver has to keep, all in one run.
func Goals() []figures.Goal {
	over := func(row, column, overRow, overColumn string, most float64) figures.Goal {
		return figures.Goal{Half: Name, Row: row, Column: column, OverRow: overRow, OverColumn: overColumn, Max: most, Must: true}
	}
	return []figures.Goal{
		over("depth5", "openfd", "", "floor", 1.07),
		over("depth5", "open", "", "os.Open", 1),
		over("depth20", "openfd", "", "os.Root", 1.0/8),
		over("depth20", "walkfd", "", "os.Root", 1),
		over("write", "openfd", "read_w", "openfd", 1.10),
		over("write_link", "openfd", "write", "openfd", 2.5),
		over("stat", "open", "", "os.Open", 1.7),
		over("rename", "open", "", "os.Open", 1.4),
		over("refusal", "openfd", "", "", 6500),
	}
}

// Allocated is a bound on heap allocations of one operation.
type Allocated struct {
	Row, Column string
	Max         float64
}

// AllocationGoals are the operations that must not feed the collector.
func AllocationGoals() []Allocated {
	return []Allocated{{"depth1", "openfd", 0}, {"depth5", "openfd", 0}, {"depth20", "openfd", 0}, {"write", "openfd", 0}}
}
