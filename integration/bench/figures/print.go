package figures

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Print writes the half as a table: the base column as a time, the others as
// ratios to it, then the notes and what failed.
func (h *Half) Print(w io.Writer) {
	fmt.Fprintf(w, "\n%s (median of interleaved rounds; %s as time, the others as ratio to it)\n", h.Title, h.Base)
	head := []string{"", h.Base}
	for _, c := range h.Columns {
		if c != h.Base {
			head = append(head, c)
		}
	}
	lines := [][]string{head}
	var failed []string
	for _, r := range h.Rows {
		line := []string{r.Title}
		for _, c := range head[1:] {
			line = append(line, h.cellText(r, c))
			if cell := r.Cells[c]; cell != nil && cell.Err != "" {
				failed = append(failed, fmt.Sprintf("%s, %s: %s", r.Title, c, cell.Err))
			}
		}
		lines = append(lines, line)
	}
	printColumns(w, lines)
	for _, n := range h.Notes {
		fmt.Fprintf(w, "  %s\n", n)
	}
	for _, f := range failed {
		fmt.Fprintf(w, "  FAILED %s\n", f)
	}
}

func (h *Half) cellText(r *Row, column string) string {
	cell := r.Cells[column]
	switch {
	case cell == nil:
		return "-"
	case cell.Err != "":
		return "failed"
	case column == h.Base:
		return Nanoseconds(cell.Median())
	case r.Cells[h.Base].Median() == 0:
		return Nanoseconds(cell.Median()) // nothing to compare with
	}
	return fmt.Sprintf("%.2f", quotient(cell.Median(), r.Cells[h.Base].Median()))
}

func printColumns(w io.Writer, lines [][]string) {
	width := make([]int, len(lines[0]))
	for _, l := range lines {
		for i, s := range l {
			width[i] = max(width[i], utf8.RuneCountInString(s))
		}
	}
	for _, l := range lines {
		var b strings.Builder
		for i, s := range l {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(s))
			if i == 0 {
				b.WriteString(s + pad)
			} else {
				b.WriteString("  " + pad + s)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// PrintVerdicts writes one line for each verdict, and how many of them there
// are of each state.
func PrintVerdicts(w io.Writer, title string, verdicts []Verdict) {
	if len(verdicts) == 0 {
		return
	}
	count := map[string]int{}
	fmt.Fprintf(w, "\n%s\n", title)
	lines := [][]string{{"goal", "measured", "result"}}
	for _, v := range verdicts {
		value := "-"
		if v.Value > 0 {
			value = fmt.Sprintf("%.3g", v.Value)
			if v.Goal.OverColumn == "" {
				value = Nanoseconds(v.Value)
			}
		}
		count[v.State]++
		lines = append(lines, []string{v.Goal.Half + ": " + v.Goal.Text(), value, v.State})
	}
	printColumns(w, lines)
	fmt.Fprintf(w, "%d pass, %d missed, %d not measured\n", count[Pass], count[Miss], count[NotMeasured])
}
