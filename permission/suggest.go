package permission

// suggest returns the word that was probably meant, or "".
func suggest(given string, words []string) string {
	best, most := "", 1+len(given)/4
	if len(given) > 64 {
		return ""
	}
	for _, w := range words {
		if d := distance(given, w); d <= most {
			best, most = w, d-1
		}
	}
	return best
}

// didYouMean is a hint that names the word that was probably meant, or else
// all of them.
func didYouMean(given string, words []string) string {
	if w := suggest(given, words); w != "" {
		return "did you mean '" + w + "'?"
	}
	return "want one of: " + listText(words)
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours between two short words (the restricted Damerau-Levenshtein
// distance), without regard to ASCII letter case.
func distance(a, b string) int {
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := 1
			if lower(a[i-1]) == lower(b[j-1]) {
				replace = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+replace)
			if i > 1 && j > 1 && lower(a[i-1]) == lower(b[j-2]) && lower(a[i-2]) == lower(b[j-1]) {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(b)]
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
