package skilltest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
)

// parallel changes twenty lines of one file at once: each edit that reported
// success must be there, and each other one must have been refused as stale.
func parallel(t *testing.T, start Starter) {
	const n = 20
	var old strings.Builder
	for i := range n {
		fmt.Fprintf(&old, "line %02d old\n", i)
	}
	s := start(t, World{WritePaths: []string{"out"}, Files: map[string]string{"out/f": old.String()}})
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			input := fmt.Sprintf(`{"path":"out/f","old_string":"line %02d old","new_string":"line %02d new"}`, i, i)
			_, errs[i] = s.Call(t.Context(), "edit_file", json.RawMessage(input))
		})
	}
	wg.Wait()
	got, _ := s.File("out/f")
	applied := 0
	for i, err := range errs {
		want := "new"
		if err != nil {
			require.Equal(t, fileskills.CodeStaleFile, asError(t, err).Code, "%v", err)
			want = "old"
		} else {
			applied++
		}
		require.Contains(t, got, fmt.Sprintf("line %02d %s\n", i, want))
	}
	require.NotZero(t, applied)
}
