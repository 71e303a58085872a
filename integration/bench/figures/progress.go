package figures

import (
	"fmt"
	"io"
)

// Progress says on a terminal what is being measured. Its zero value is
// silent, which is what a pipe gets.
type Progress struct {
	W io.Writer // nil: silent
}

const clearLine = "\r\x1b[K"

// Step shows one line in place of the last one.
func (p Progress) Step(half, row, column string, round, rounds int) {
	if p.W != nil {
		fmt.Fprintf(p.W, "%s%s %s: %s (%d of %d)", clearLine, half, row, column, round, rounds)
	}
}

// Say shows one line in place of the last one.
func (p Progress) Say(format string, args ...any) {
	if p.W != nil {
		fmt.Fprintf(p.W, clearLine+format, args...)
	}
}

// Done takes the line away.
func (p Progress) Done() {
	if p.W != nil {
		fmt.Fprint(p.W, clearLine)
	}
}
