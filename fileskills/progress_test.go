package fileskills

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProgress: at most ten reports a second, and none where nobody listens.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports []Progress
		ctx := WithProgress(context.Background(), func(p Progress) { reports = append(reports, p) })
		c := &call{ctx: ctx}
		for i := range 1000 {
			c.progress(Progress{Done: int64(i)})
			time.Sleep(10 * time.Millisecond)
		}
		require.Len(t, reports, 100)
		require.EqualValues(t, 990, reports[99].Done)
	})
	(&call{ctx: context.Background()}).progress(Progress{Done: 1})
}
