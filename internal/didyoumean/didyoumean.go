// Package didyoumean finds the word of a list that a mistyped one was meant for.
package didyoumean

import "strings"

// Word returns the word that was probably meant, or "": about a quarter of the
// letters may be wrong. Words of more than 64 bytes are not looked at.
func Word(given string, words []string) string {
	best, most := "", 1+len(given)/4
	if given == "" || len(given) > 64 {
		return ""
	}
	for _, w := range words {
		if len(w) > len(given)+most || len(w) < len(given)-most {
			continue
		}
		if d := Distance(given, w); d <= most {
			best, most = w, d-1
		}
	}
	return best
}

// Hint names the word that was probably meant, or else all of them.
func Hint(given string, words []string) string {
	if w := Word(given, words); w != "" {
		return "did you mean '" + w + "'?"
	}
	return "want one of: " + strings.Join(words, ", ")
}

// Distance counts the insertions, deletions, replacements and swaps of
// neighbours, in bytes, between two short words (the restricted
// Damerau-Levenshtein distance), without regard to letter case. Its time is the
// product of their lengths.
func Distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := 1
			if a[i-1] == b[j-1] {
				replace = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(b)]
}
