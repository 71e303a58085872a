package launcher

import (
	"context"
	"sync"
)

// A Pause keeps a command from the caller's terminal for a while, so that the
// caller itself can ask something there. It is for one Run; make it with
// NewPause.
type Pause struct {
	in, out sync.Mutex // held while the command is kept from it; in, while keys are read; out, while output is written

	mu    sync.Mutex
	outer rawTerminal // nil where the command has no terminal
	ended chan struct{}
}

// rawTerminal is a terminal whose keys the command gets as they are typed.
type rawTerminal interface {
	raw()
	restore()
}

// NewPause makes one that nothing runs under yet.
func NewPause() *Pause { return &Pause{ended: make(chan struct{})} }

// Take takes the terminal: until release is called the command's output waits,
// its keys are left where they are, and the terminal is in the mode in which Run
// found it. The context that is returned ends with ctx and with the command. One
// caller at a time has the terminal.
func (p *Pause) Take(ctx context.Context) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-p.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	p.in.Lock()
	p.out.Lock()
	p.each(rawTerminal.restore)
	return ctx, func() {
		p.each(rawTerminal.raw)
		p.out.Unlock()
		p.in.Unlock()
		cancel()
	}
}

// each does something with the terminal, if there is one.
func (p *Pause) each(do func(rawTerminal)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outer != nil {
		do(p.outer)
	}
}

// begin and end are the command's.
func (p *Pause) begin(t rawTerminal) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.outer = t
	}
}

// end returns once nobody has the terminal, and from then on nobody changes it.
func (p *Pause) end() {
	if p == nil {
		return
	}
	close(p.ended)
	p.in.Lock()
	defer p.in.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outer = nil
}

// reading does what is about the terminal's keys, and says whether it did: not
// while the terminal is taken.
func (p *Pause) reading(do func()) bool {
	if p == nil {
		do()
		return true
	}
	if !p.in.TryLock() {
		return false
	}
	defer p.in.Unlock()
	do()
	return true
}

// writing does what is about the terminal's output, once nobody has it.
func (p *Pause) writing(do func()) {
	if p != nil {
		p.out.Lock()
		defer p.out.Unlock()
	}
	do()
}
