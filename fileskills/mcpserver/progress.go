package mcpserver

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pinfold-dev/pinfold/fileskills"
)

// reportProgress makes the call under the returned context tell the client how
// far it is, where the client asked for that. stop ends it, and must be called
// before the result is sent.
func reportProgress(ctx context.Context, req *mcp.CallToolRequest) (_ context.Context, stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx, func() {}
	}
	// The skill must not wait for a client that does not read: it leaves the
	// newest figure in a channel of one, and a goroutine sends it.
	newest := make(chan fileskills.Progress, 1)
	var sending sync.WaitGroup
	sending.Go(func() {
		last := -1.0
		for p := range newest {
			if float64(p.Done) <= last { // the protocol wants it to grow
				continue
			}
			last = float64(p.Done)
			// A peer that is gone is noticed by who reads from it.
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: last, Total: float64(p.Total), Message: p.Text,
			})
		}
	})
	var mu sync.Mutex // guards sends on newest against its close
	closed := false
	report := func(p fileskills.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if closed {
			return
		}
		select {
		case newest <- p:
		default:
			select {
			case <-newest:
			default:
			}
			newest <- p // there is room: only report fills it, under mu
		}
	}
	return fileskills.WithProgress(ctx, report), func() {
		mu.Lock()
		closed = true
		close(newest)
		mu.Unlock()
		sending.Wait()
	}
}
