package viewhost

import (
	"context"
	"encoding/gob"
	"errors"
	"io"
	"sync"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// The process that serves a hired agent's view asks the broker that started it
// over a pair of sockets that nobody else has: who asks is settled by that.
// Both sides write gob, and are the same program.

// pipeQuestion is what the view's process says.
type pipeQuestion struct {
	ID     uint64 // of the answer
	Cancel bool   // nobody waits for it any more
	Record bool   // leave a request behind, and do not decide
	Ask    sandboxfs.AskRequest
}

// pipeAnswer is what the broker's process says.
type pipeAnswer struct {
	ID      uint64 // 0: Grants has changed
	Allowed bool
	Refusal string
	Grants  []broker.Request // what the agent is granted now
}

// errBrokerGone is the answer where there is nobody to give one.
var errBrokerGone = errors.New("the broker has ended")

// pipeAsker is the view's end.
type pipeAsker struct {
	grants Grants

	writing sync.Mutex // of out; never taken with mu held, so that answers are always read
	out     *gob.Encoder

	mu      sync.Mutex // of what follows
	last    uint64
	waiting map[uint64]chan pipeAnswer
	gone    bool
}

var _ sandboxfs.Asker = (*pipeAsker)(nil)

// NewPipe speaks over c until it ends.
func NewPipe(c io.ReadWriter) sandboxfs.Asker {
	p := &pipeAsker{out: gob.NewEncoder(c), waiting: map[uint64]chan pipeAnswer{}}
	go p.listen(gob.NewDecoder(c))
	return p
}

// Ask puts a question, and returns at once when ctx is cancelled.
func (p *pipeAsker) Ask(ctx context.Context, q sandboxfs.AskRequest) error {
	a, err := p.put(ctx, pipeQuestion{Ask: q})
	if err == nil && !a.Allowed {
		err = errors.New(a.Refusal)
	}
	return err
}

// Record leaves a request behind.
func (p *pipeAsker) Record(ctx context.Context, q sandboxfs.AskRequest) error {
	a, err := p.put(ctx, pipeQuestion{Ask: q, Record: true})
	if err == nil && a.Refusal != "" {
		err = errors.New(a.Refusal)
	}
	return err
}

// Granted says from memory whether a may have been granted.
func (p *pipeAsker) Granted(a access.Access) bool { return p.grants.cover(a.Resource) }

func (p *pipeAsker) put(ctx context.Context, q pipeQuestion) (pipeAnswer, error) {
	answer := make(chan pipeAnswer, 1)
	if err := p.say(&q, answer); err != nil {
		return pipeAnswer{}, err
	}
	select {
	case a, ok := <-answer:
		if !ok {
			return pipeAnswer{}, errBrokerGone
		}
		return a, nil
	case <-ctx.Done():
		p.forget(q.ID)
		return pipeAnswer{}, ctx.Err()
	}
}

// say numbers a question and writes it.
func (p *pipeAsker) say(q *pipeQuestion, answer chan pipeAnswer) error {
	p.mu.Lock()
	if p.gone {
		p.mu.Unlock()
		return errBrokerGone
	}
	p.last++
	q.ID = p.last
	p.waiting[q.ID] = answer
	p.mu.Unlock()
	return p.write(q)
}

func (p *pipeAsker) write(q *pipeQuestion) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	if err := p.out.Encode(q); err != nil {
		return errBrokerGone
	}
	return nil
}

// forget tells that nobody waits any more.
func (p *pipeAsker) forget(id uint64) {
	p.mu.Lock()
	_, still := p.waiting[id]
	delete(p.waiting, id)
	p.mu.Unlock()
	if still {
		_ = p.write(&pipeQuestion{ID: id, Cancel: true}) // a broker that is gone waits for nothing
	}
}

func (p *pipeAsker) listen(in *gob.Decoder) {
	for {
		var a pipeAnswer
		if err := in.Decode(&a); err != nil {
			break
		}
		if a.ID == 0 {
			p.grants.Set(a.Grants)
			continue
		}
		p.mu.Lock()
		answer := p.waiting[a.ID]
		delete(p.waiting, a.ID)
		p.mu.Unlock()
		if answer != nil {
			answer <- a
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	for _, answer := range p.waiting {
		close(answer)
	}
}
