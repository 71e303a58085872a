package fileskills

import "github.com/pinfold-dev/pinfold/internal/didyoumean"

// The bounds on looking for what a missing name might have meant.
const (
	maxSuggest    = 2000      // names that are compared
	maxSuggestDir = 256 << 10 // bytes of a directory that is read for it
)

// nearest is the candidate that looks most like name, or "" when none does.
func nearest(name string, candidates []string) string {
	return didyoumean.Word(name, candidates[:min(len(candidates), maxSuggest)])
}
