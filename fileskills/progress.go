package fileskills

import (
	"context"
	"time"
)

// progressEvery is how long no further report follows one.
const progressEvery = time.Second / 10

// Progress is how far a long search has come.
type Progress struct {
	Done  int64  // files looked at
	Total int64  // 0 when not known
	Text  string // one short line
}

type progressKey struct{}

// WithProgress makes calls under the returned context report to f, at most
// ten times a second. f must not block.
func WithProgress(ctx context.Context, f func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}
