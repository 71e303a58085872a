package leftlog

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/leftover"
)

func TestLeftFitsItsSchema(t *testing.T) {
	s := clitest.Schema(t, "../../../../../docs/schema/left.schema.json")
	for _, records := range [][]Record{nil, {{Run: "x", Root: "/" + clitest.Hostile, Command: clitest.Hostile, Ended: cli.TimeText(time.Now()), Items: clitest.SomeLeft(), Omitted: 1}}} {
		var out bytes.Buffer
		require.NoError(t, printLeftJSON(cli.NewOutput(&out, nil), records))
		clitest.Validate(t, s, out.String())
		require.NotContains(t, out.String(), "\x1b")
	}
	var out bytes.Buffer
	printLeft(cli.NewOutput(&out, nil), []Record{{Run: "x", Root: "/project", Items: clitest.SomeLeft()}})
	require.NotContains(t, out.String(), "\x1b")
	require.Equal(t, 1+len(leftover.Kinds()), strings.Count(out.String(), "\n"), "one line each, whatever the names hold")
}
