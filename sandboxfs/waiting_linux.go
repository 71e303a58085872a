package sandboxfs

import (
	"context"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs/internal/fuseconn"
)

// openLater has the open of a file wait for an answer, as long as nobody gives
// one. Then it is done from the beginning: what was found before the wait counts
// no more.
func (p *part) openLater(in *fuse.OpenIn) fuseconn.Reply {
	asks, q := p.v.asks, p.questions.take(in.Unique)
	if !admit(&asks.waiting, maxWaiting) {
		return fuseconn.Reply{Status: p.refuseAsked(&in.InHeader, &q, "too many wait for an answer")}
	}
	again := *in
	return fuseconn.Reply{Later: func(ctx context.Context) (r fuseconn.Reply) {
		var leave pathresolver.Grant
		if leave, r.Status = p.await(ctx, &again.InHeader, &q); r.Status == fuse.OK {
			p.v.within(func() { r.Status = p.open1(&again, &r.Open, leave) })
		}
		return r
	}}
}

// await waits for the answer.
func (p *part) await(ctx context.Context, h *fuse.InHeader, q *AskRequest) (pathresolver.Grant, fuse.Status) {
	asks := p.v.asks
	defer asks.waiting.Add(-1)
	if asks.wait > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, asks.wait)
		defer stop()
	}
	return p.answerOf(ctx, h, q)
}
