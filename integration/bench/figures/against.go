package figures

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Noise is how far apart two medians may lie and still count as the same.
const Noise = 1.05

// PrintAgainst writes how one column fares: its ratio to the base with the
// goals for that, and its time over that of each peer. A ratio that is above 1
// by more than Noise is marked "!"; rivals are the peers that are counted.
func (h *Half) PrintAgainst(w io.Writer, column string, rivals []string, verdicts []Verdict) {
	if !slices.Contains(h.Columns, column) || len(h.Rows) == 0 {
		return
	}
	var peers []string
	for _, c := range h.Columns {
		if c != column && c != h.Base {
			peers = append(peers, c)
		}
	}
	if len(peers) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s: %s over %s, with its goals, and over each peer (below 1: ahead; !: behind by more than %.0f %%)\n",
		h.Title, column, h.Base, (Noise-1)*100)
	lines := [][]string{slices.Concat([]string{"", h.Base, "goal"}, peers)}
	for _, r := range h.Rows {
		if r.Apart {
			continue
		}
		line := []string{r.Title, quotientText(h.Ratio(r.Name, column)), h.goalText(r.Name, column, verdicts)}
		for _, p := range peers {
			q := quotient(r.Cells[column].Median(), r.Cells[p].Median())
			line = append(line, mark(quotientText(q), q > Noise && slices.Contains(rivals, p)))
		}
		lines = append(lines, line)
	}
	printColumns(w, lines)
	for _, p := range rivals {
		h.printAhead(w, column, p)
	}
}

func quotientText(q float64) string {
	switch {
	case q == 0:
		return "-"
	case q < 0.1:
		return fmt.Sprintf("%.3f", q)
	}
	return fmt.Sprintf("%.2f", q)
}

func mark(text string, bad bool) string {
	if bad {
		return text + "!"
	}
	return text
}

// goalText are the bounds over the base that a cell has, each with "!" when it
// is not kept.
func (h *Half) goalText(row, column string, verdicts []Verdict) string {
	var goals []string
	for _, v := range verdicts {
		g := v.Goal
		if g.Half == h.Name && g.Row == row && g.Column == column && g.OverRow == "" && g.OverColumn == h.Base {
			goals = append(goals, mark(fmt.Sprintf("%.3g", g.Max), v.State != Pass))
		}
	}
	return strings.Join(goals, " ")
}

// printAhead says on how many rows column is ahead of a peer, and where not.
func (h *Half) printAhead(w io.Writer, column, peer string) {
	ahead, of := 0, 0
	var behind []string
	for _, row := range h.Rows {
		ours, theirs := row.Cells[column].Median(), row.Cells[peer].Median()
		switch {
		case row.Apart || theirs == 0: // it cannot do that
			continue
		case ours == 0:
			behind = append(behind, row.Name+" (failed)")
		case ours <= theirs*Noise:
			ahead++
		default:
			behind = append(behind, fmt.Sprintf("%s (%.2f)", row.Name, ours/theirs))
		}
		of++
	}
	if of == 0 {
		return
	}
	fmt.Fprintf(w, "%s: %s ahead of %s, or level, on %d of %d rows", h.Name, column, peer, ahead, of)
	if len(behind) > 0 {
		fmt.Fprintf(w, "; behind on %s", strings.Join(behind, ", "))
	}
	fmt.Fprintln(w)
}
