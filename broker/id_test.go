package broker

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Lists are in the order of ids, and what is asked within one millisecond keeps
// its order too.
func TestIDsAreInOrder(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	seen := map[string]bool{newID(at): true, newID(at): true}
	require.Len(t, seen, 2, "one moment, two ids")
	last := newID(at)
	for range 5000 {
		at = at.Add(time.Microsecond)
		next := newID(at)
		require.Greater(t, next, last)
		require.Regexp(t, regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`), next)
		last = next
	}
}
