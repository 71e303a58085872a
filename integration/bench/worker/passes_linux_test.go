package worker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPassesLeaveTheFirstOutAndKeepTheMiddle(t *testing.T) {
	j, spent := &Job{}, []time.Duration{100, 3, 1, 2}
	require.NoError(t, j.passes(3, func() error {
		j.spent += spent[0]
		spent = spent[1:]
		return nil
	}))
	require.Empty(t, spent)
	require.Equal(t, time.Duration(2), j.spent)
}
