package integration

import (
	"fmt"
	"slices"
	"strings"
)

// checklist is the table of TestPermissions: preset and check × surface.
type checklist struct {
	rows, surfaces []string
	cells          map[string]string // by row and surface
}

// set notes what came of a check. One failure of a check is a failure.
func (c *checklist) set(preset, check, surface string, passes bool) {
	word := "pass"
	if !passes || c.cells[rowOf(preset, check)+surface] == "FAIL" {
		word = "FAIL"
	}
	c.note(preset, check, surface, word)
}

func (c *checklist) note(preset, check, surface, word string) {
	row := rowOf(preset, check)
	if c.cells == nil {
		c.cells = map[string]string{}
	}
	c.cells[row+surface] = word
	if !slices.Contains(c.rows, row) {
		c.rows = append(c.rows, row)
	}
	if !slices.Contains(c.surfaces, surface) {
		c.surfaces = append(c.surfaces, surface)
	}
}

func rowOf(preset, check string) string { return fmt.Sprintf("%-12s %-34s", preset, check) }

// print writes the table to standard output, each preset's rows together.
func (c *checklist) print() {
	lines := []string{rowOf("preset", "check")}
	for _, s := range c.surfaces {
		lines[0] += fmt.Sprintf(" %-9s", s)
	}
	for _, row := range c.rows {
		line := row
		for _, s := range c.surfaces {
			line += fmt.Sprintf(" %-9s", c.cells[row+s])
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	fmt.Println("[table] " + strings.Join(lines, "\n[table] "))
}
