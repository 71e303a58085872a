package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// A program that tries a million names costs neither memory nor screens.
func TestSummaryIsBounded(t *testing.T) {
	c := &refused{kinds: map[refusalKind]int{}}
	for i := range 3 * summaryKinds {
		c.add(sandboxfs.Refusal{Op: pathresolver.OpCreate, Place: "d" + itoa(i), Rule: pathresolver.RuleNoWritePath})
	}
	c.add(sandboxfs.Refusal{Op: pathresolver.OpCreate, Place: "d7", Rule: pathresolver.RuleNoWritePath})
	require.Len(t, c.kinds, summaryKinds)

	var text bytes.Buffer
	c.summary(newOutput(nil, &text), 5)
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	require.Len(t, lines, 1+summaryLines+2)
	require.Equal(t, "pinfold: 30001 operations refused", lines[0])
	require.Equal(t, "      2 x create d7  no_write_path", lines[1], "the most frequent first")
	require.Equal(t, "  5 more came too fast to be told apart", lines[len(lines)-1])
}

func TestSummaryEscapesNames(t *testing.T) {
	c := &refused{kinds: map[refusalKind]int{}}
	c.add(sandboxfs.Refusal{Op: pathresolver.OpWrite, Place: hostile, Rule: pathresolver.RuleProtected})
	var text bytes.Buffer
	c.summary(newOutput(nil, &text), 0)
	require.Equal(t, 2, strings.Count(text.String(), "\n"))
	require.NotContains(t, text.String(), "\x1b")
	require.NotContains(t, text.String(), "\u202e")
}

func TestNothingRefusedNothingSaid(t *testing.T) {
	var text bytes.Buffer
	(&refused{}).summary(newOutput(nil, &text), 0)
	require.Empty(t, text.String())
}
