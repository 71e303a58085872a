package rulesbench

import (
	"os"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/integration/bench/figures"
	"github.com/pinfold-dev/pinfold/integration/bench/viewbench"
	"github.com/pinfold-dev/pinfold/permission"
)

// The half about the view, and its columns.
const (
	ViewName = "rules_view"
	Without  = "no_rules"
	With     = "rules1000"
)

// ViewRows are where rules could show: what looks a name up or opens a file.
func ViewRows() []string {
	return []string{"open", "open_cold", "read_small", "stat", "missing", "walk_first", "create"}
}

// ViewKinds writes the policies into dir, which everybody may enter, and
// returns the view without rules and with a thousand.
func ViewKinds(dir string) ([]viewbench.Kind, error) {
	var kinds []viewbench.Kind
	for name, n := range map[string]int{Without: 0, With: 1000} {
		file := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(file, permission.Encode(document(n)), 0o644); err != nil {
			return nil, err
		}
		kind := viewbench.WithPolicy(name, file)
		if name == Without {
			kinds = append([]viewbench.Kind{kind}, kinds...)
		} else {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

// Goals are the bounds: a Check within a microsecond whatever the number of
// rules, and opening in the view for at most a twentieth more.
func Goals() []figures.Goal {
	var goals []figures.Goal
	for _, row := range Rows() {
		goals = append(goals, figures.Goal{Half: Name, Row: row, Column: column(1_000), Max: 1000, Must: true})
		goals = append(goals, figures.Goal{Half: Name, Row: row, Column: column(100_000), Max: 1000, Must: true})
	}
	for _, row := range ViewRows() {
		goals = append(goals, figures.Goal{Half: ViewName, Row: row, Column: With, OverColumn: Without, Max: 1.05, Must: row == "open" || row == "open_cold"})
	}
	return goals
}
