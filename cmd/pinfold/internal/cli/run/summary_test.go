package run

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/leftover"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// A program that tries a million names costs neither memory nor screens.
func TestSummaryIsBounded(t *testing.T) {
	c := &refused{kinds: map[refusalKind]int{}}
	for i := range 3 * summaryKinds {
		c.add(sandboxfs.Refusal{Op: access.OpCreate, Place: "d" + strconv.Itoa(i), Rule: pathresolver.RuleNoWritePath})
	}
	c.add(sandboxfs.Refusal{Op: access.OpCreate, Place: "d7", Rule: pathresolver.RuleNoWritePath})
	require.Len(t, c.kinds, summaryKinds)

	var text bytes.Buffer
	c.summary(cli.NewOutput(nil, &text), (&runFlags{}).remedy)
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	require.Len(t, lines, 1+cli.SummaryLines+2)
	require.Equal(t, "pinfold: 30001 operations refused", lines[0])
	require.Equal(t, "      2 x create d7  no_write_path", lines[1], "the most frequent first")
	require.Equal(t, "pinfold: hint: to allow it: -w .", lines[len(lines)-1])
}

func TestSummaryEscapesNames(t *testing.T) {
	c := &refused{kinds: map[refusalKind]int{}}
	c.add(sandboxfs.Refusal{Op: access.OpWrite, Place: clitest.Hostile, Rule: pathresolver.RuleProtected})
	var text bytes.Buffer
	c.summary(cli.NewOutput(nil, &text), (&runFlags{}).remedy)
	require.Equal(t, 3, strings.Count(text.String(), "\n"))
	require.NotContains(t, text.String(), "\x1b")
	require.NotContains(t, text.String(), "\u202e")
}

func TestNothingRefusedNothingSaid(t *testing.T) {
	var text bytes.Buffer
	c := &refused{}
	c.unjudged(0)
	c.summary(cli.NewOutput(nil, &text), (&runFlags{}).remedy)
	c.warn(cli.NewOutput(nil, &text))
	require.Empty(t, text.String())
}

// A command that drowns its refusals in other attempts does not pass for one
// that had none, and a log without a terminal says so.
func TestWhatIsNotJudgedIsNoSuccess(t *testing.T) {
	strict, lax := &runFlags{failOnDeny: true}, &runFlags{}
	c := &refused{}
	c.unjudged(0)
	require.Equal(t, 7, strict.exitCode(7, c, leftover.Left{}), "all was judged, and nothing refused")
	c.unjudged(5)
	require.Equal(t, cli.ExitDenied, strict.exitCode(0, c, leftover.Left{}))
	require.Equal(t, 7, lax.exitCode(7, c, leftover.Left{}), "nobody wants to fail")
	var text bytes.Buffer
	c.warn(cli.NewOutput(nil, &text))
	require.Equal(t, "pinfold: warning: 5 attempts or more came too fast to be judged, and may have been refused\n", text.String())
}
