package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A terminal sees how far a long check is, and nothing of it afterwards; a pipe
// and a short check see nothing.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	long := time.Now().Add(-time.Hour) // when the check began

	p := progress{out: stream{Writer: &out, terminal: true}, first: long}
	p.step(1200)
	p.done()
	require.Equal(t, "\rchecking: 1200 files\r\x1b[K", out.String())

	out.Reset()
	for _, p := range []progress{{out: stream{Writer: &out}, first: long}, {out: stream{Writer: &out, terminal: true}, first: time.Now().Add(time.Hour)}} {
		p.step(1200)
		p.done()
	}
	require.Empty(t, out.String())
}
