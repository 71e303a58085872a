package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/cases"
	"github.com/pinfold-dev/pinfold/integration/ops"
)

const corpusDir = "../testdata/cases"

// TestCorpus runs every row over every surface in both modes and prints the
// table. A cell that does not pass is a failure, unless not-applicable.txt has
// it; what that has must not pass.
func TestCorpus(t *testing.T) {
	rows := corpus(t)
	na := notApplicable(t)
	results := newTable(rows, na)
	t.Run("surfaces", func(t *testing.T) { // returns when the parallel ones are done
		for _, s := range surfaces {
			for _, mode := range modes {
				t.Run(s.Name()+"/"+mode, func(t *testing.T) {
					t.Parallel()
					for _, row := range rows {
						t.Run(row.ID, func(t *testing.T) {
							results.set(row.ID, s.Name()+"/"+mode, cell(t, s, mode, row, na))
						})
					}
				})
			}
		}
	})
	for _, s := range surfaces {
		t.Run(s.Name()+" lacks verbs", func(t *testing.T) { lacks(t, s, na) })
	}
	t.Run("limits are documented", func(t *testing.T) { limitsAreDocumented(t, rows) })
	results.print(t)
}

// corpus are the rows of testdata/cases, for an ordinary user those without
// mounts and devices.
func corpus(t *testing.T) []cases.Row {
	t.Helper()
	rows, err := cases.Load(corpusDir)
	require.NoError(t, err)
	require.NotEmpty(t, rows)
	if isRoot {
		return rows
	}
	return slices.DeleteFunc(rows, cases.Row.NeedsRoot)
}

// notApplicable is the list of what surfaces lack. It is about all rows, the
// races too, and all surfaces, whoever runs.
func notApplicable(t *testing.T) *cases.NotApplicable {
	t.Helper()
	rows, err := cases.Load(corpusDir)
	require.NoError(t, err)
	for _, r := range allRaces {
		rows = append(rows, r.row())
	}
	na, err := cases.LoadNotApplicable(filepath.Join(corpusDir, "not-applicable.txt"), surfaceNames, rows)
	require.NoError(t, err)
	return na
}

// cell runs one row on one surface and returns its word for the table.
func cell(t *testing.T, s Surface, mode string, row cases.Row, na *cases.NotApplicable) string {
	var failure error
	row, reason := na.Without(s.Name(), row)
	if reason != 0 {
		return fmt.Sprintf("n/a(%d)", reason)
	}
	listed := na.Reason(s.Name(), row.ID)
	ran := t.Run("guarded", func(t *testing.T) { failure = guarded(t, s, mode, row) })
	// Without the guard there are no modes, and once is enough for most.
	if ran && failure == nil && (mode == modes[0] || listed != 0) {
		ran = t.Run("unguarded", func(t *testing.T) { failure = unguarded(t, s, row) })
	}
	if !ran {
		return "FAIL"
	}
	switch {
	case listed == 0 && failure == nil && leaks(row):
		return "limit"
	case listed == 0 && failure == nil:
		return "pass"
	case listed == 0:
		t.Errorf("%s %s (%s): %v", row.ID, row.Title, row.Where, failure)
		return "FAIL"
	case failure == nil:
		t.Errorf("%s passes: take it off not-applicable.txt", row.ID)
		return "STALE"
	}
	return fmt.Sprintf("n/a(%d)", listed)
}

// lacks holds the list of verbs that a surface does not have to the surface.
// A verb that it has but the list takes away would never be tried.
func lacks(t *testing.T, s Surface, na *cases.NotApplicable) {
	at := newSite(t, s.UID(), s.InView())
	e, err := s.Start(t, at, nil, modes[0])
	require.NoError(t, err)
	for _, verb := range na.Verbs(s.Name()) {
		res := do(e, ops.Op{Verb: verb, Args: [][]byte{[]byte("a"), []byte("b")}}, opLimit)
		require.Equal(t, ops.ErrUnsupported.Error(), res.Text, "%s has %q: take it off not-applicable.txt", s.Name(), verb)
	}
}

// leaks reports whether a row stands for a limit.
func leaks(row cases.Row) bool {
	for _, l := range row.Lines {
		if l.Want.Kind == cases.WantLeak {
			return true
		}
	}
	return false
}

// limits are what docs/threat-model.md says of the rows that leak.
var limits = map[string]string{
	"B28": "Reading a hard link, planted before the start, to a file outside",
}

// limitsAreDocumented holds docs/threat-model.md to the rows that leak.
func limitsAreDocumented(t *testing.T, rows []cases.Row) {
	text, err := os.ReadFile("../docs/threat-model.md")
	require.NoError(t, err)
	for _, row := range rows {
		if leaks(row) {
			require.NotEmpty(t, limits[row.ID], row.ID)
			require.Contains(t, string(text), limits[row.ID])
		}
	}
}

// sorted are the keys of m.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
