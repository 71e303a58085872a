package check

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

// A terminal sees how far a long check is, and nothing of it afterwards; a pipe
// and a short check see nothing.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	long := time.Now().Add(-time.Hour) // when the check began

	p := progress{out: cli.Stream{Writer: &out, Terminal: true}, first: long}
	p.step(1200)
	p.done()
	require.Equal(t, "\rchecking: 1200 files\r\x1b[K", out.String())

	out.Reset()
	for _, p := range []progress{{out: cli.Stream{Writer: &out}, first: long}, {out: cli.Stream{Writer: &out, Terminal: true}, first: time.Now().Add(time.Hour)}} {
		p.step(1200)
		p.done()
	}
	require.Empty(t, out.String())
}
