package cases

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// NotApplicable says which rows a surface cannot have, and why. Its file has
// lines "reason N: TEXT", "SURFACE N: ROW..." and "SURFACE N: lacks VERB...",
// for verbs that the surface does not have: they are left out of its rows.
type NotApplicable struct {
	Reasons map[int]string
	cells   map[[2]string]int // surface, row
	verbs   map[[2]string]int // surface, verb
}

var reasonLine, cellLine = regexp.MustCompile(`^reason (\d+): (.+)$`), regexp.MustCompile(`^([a-z/-]+) (\d+): (.+)$`)

// LoadNotApplicable reads the list. What is no known line, surface or row,
// stands twice, or has no reason, is an error; so is a reason that nothing
// has.
func LoadNotApplicable(file string, surfaces []string, rows []Row) (*NotApplicable, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, s := range surfaces {
		known["surface "+s] = true
	}
	for _, r := range rows {
		known["row "+r.ID] = true
	}
	n := &NotApplicable{Reasons: map[int]string{}, cells: map[[2]string]int{}, verbs: map[[2]string]int{}}
	used := map[int]bool{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if m := reasonLine.FindStringSubmatch(line); m != nil {
			number, _ := strconv.Atoi(m[1])
			n.Reasons[number] = m[2]
			continue
		}
		m := cellLine.FindStringSubmatch(line)
		if m == nil || !known["surface "+m[1]] {
			return nil, fmt.Errorf("%s: %q names no surface and reason", file, line)
		}
		number, _ := strconv.Atoi(m[2])
		used[number] = true
		if verbs, ok := strings.CutPrefix(m[3], "lacks "); ok {
			for _, verb := range strings.Fields(verbs) {
				n.verbs[[2]string{m[1], verb}] = number
			}
			continue
		}
		for _, row := range strings.Fields(m[3]) {
			cell := [2]string{m[1], row}
			if !known["row "+row] || n.cells[cell] != 0 || n.Reasons[number] == "" {
				return nil, fmt.Errorf("%s: %s %s: unknown row, or twice, or without a reason", file, m[1], row)
			}
			n.cells[cell] = number
		}
	}
	for number := range n.Reasons {
		if !used[number] {
			return nil, fmt.Errorf("%s: nothing has reason %d", file, number)
		}
	}
	return n, nil
}

// Reason is the number of the reason why surface has no such row, 0 if it
// has.
func (n *NotApplicable) Reason(surface, row string) int { return n.cells[[2]string{surface, row}] }

// Verbs are the verbs that surface does not have.
func (n *NotApplicable) Verbs(surface string) []string {
	var verbs []string
	for cell := range n.verbs {
		if cell[0] == surface {
			verbs = append(verbs, cell[1])
		}
	}
	return verbs
}

// Without is row without the operations that surface does not have. When none
// is left, the number of the reason says why.
func (n *NotApplicable) Without(surface string, row Row) (Row, int) {
	var lines []Line
	reason, left := 0, false
	for _, l := range row.Lines {
		if l.Kind == LineOp {
			if number := n.verbs[[2]string{surface, l.Words[0]}]; number != 0 {
				reason = number
				continue
			}
			left = true
		}
		lines = append(lines, l)
	}
	if left {
		reason = 0
	}
	row.Lines = lines
	return row, reason
}
