package sandboxfs

import (
	"context"
	"unsafe"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// openLater has the open of a file wait for an answer in a goroutine of its own,
// without a thread, a buffer or a lock, as long as nobody answers.
func (p *part) openLater(in *fuse.OpenIn) fuse.Status {
	asks, q := p.v.asks, p.questions.take(in.Unique)
	if !admit(&asks.waiting, maxWaiting) {
		return p.refuseAsked(&in.InHeader, &q, "too many wait for an answer")
	}
	p.conn.busy.Add(1) // besides the one of who answers this request now
	go p.openAsked(*in, q)
	return answeredLater
}

// openAsked waits for the answer and opens the file, if it may, from the
// beginning: what was found before the wait counts no more.
func (p *part) openAsked(in fuse.OpenIn, q AskRequest) {
	defer p.conn.busy.Done()
	leave, st := p.await(&in.InHeader, &q)
	var room [outHeaderSize + unsafe.Sizeof(fuse.OpenOut{})]byte
	answer := request{in: unsafe.Slice((*byte)(unsafe.Pointer(&in)), unsafe.Sizeof(in)), room: room[:]}
	size := 0
	out := answerOf[fuse.OpenOut](answer, &size)
	if st == fuse.OK {
		p.conn.lead.t.within(func() { st = p.open1(&in, out, leave) })
	}
	p.conn.reply(answer, answer.finish(size, st))
}

// await waits for the answer.
func (p *part) await(h *fuse.InHeader, q *AskRequest) (pathresolver.Grant, fuse.Status) {
	asks := p.v.asks
	defer asks.waiting.Add(-1)
	ctx, end := p.conn.interrupts.begin(h.Unique)
	defer end()
	if asks.wait > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, asks.wait)
		defer stop()
	}
	return p.answerOf(ctx, h, q)
}
