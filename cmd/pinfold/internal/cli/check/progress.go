package check

import (
	"time"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

// progress tells a terminal how far a long check is. In a pipe, and in a check
// that is over at once, it is quiet.
type progress struct {
	out   cli.Stream
	first time.Time // of the first file
	last  time.Time // that something was shown
}

const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// step says that n files have been begun.
func (p *progress) step(n int) {
	if !p.out.Terminal {
		return
	}
	now := time.Now()
	if p.first.IsZero() {
		p.first = now
	}
	if now.Sub(p.first) < progressAfter || now.Sub(p.last) < progressEvery {
		return
	}
	p.last = now
	p.out.Printf("\rchecking: %s", cli.Plural(n, "file"))
}

// done takes the line away.
func (p *progress) done() {
	if !p.last.IsZero() {
		p.out.Printf("\r\x1b[K")
	}
}
