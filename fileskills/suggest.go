package fileskills

import "strings"

// The bounds on looking for what a missing name might have meant.
const (
	maxSuggest    = 2000      // names that are compared
	maxSuggestDir = 256 << 10 // bytes of a directory that is read for it
)

// nearest is the candidate that looks most like name, or "" when none does:
// at most a third of the letters may differ.
func nearest(name string, candidates []string) string {
	const longest = 64
	if name == "" || len(name) > longest {
		return ""
	}
	best, bestCost := "", len(name)/3+1
	for i, c := range candidates {
		if i == maxSuggest {
			break
		}
		if c == "" || len(c) > longest {
			continue
		}
		if cost := distance(strings.ToLower(name), strings.ToLower(c)); cost < bestCost || cost == bestCost && best == "" {
			best, bestCost = c, cost
		}
	}
	return best
}

// distance is the number of letters to insert, drop or change to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
