package broker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// rows are the agents of a transaction.
type rows struct {
	Tx
	reports map[string][]Agent
}

func (r rows) Agents(f AgentFilter) ([]Agent, error) { return r.reports[*f.ParentID], nil }

// D24: leaves first, and each height has its time before the next is ended.
func TestTreeHasItsHeights(t *testing.T) {
	a, b, c, d := Agent{ID: "a"}, Agent{ID: "b"}, Agent{ID: "c"}, Agent{ID: "d"}
	for heights, reports := range map[int]map[string][]Agent{
		1: {},
		2: {"a": {b, c, d}},
		3: {"a": {b, c}, "b": {d}},
		4: {"a": {b}, "b": {c}, "c": {d}},
	} {
		list, got, err := (&tx{Tx: rows{reports: reports}}).tree(a)
		require.NoError(t, err)
		require.Equal(t, heights, got)
		require.Equal(t, "a", list[len(list)-1].ID)
	}
}
