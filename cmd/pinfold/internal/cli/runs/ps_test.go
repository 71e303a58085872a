package runs

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/live"
)

func TestPsFitsItsSchema(t *testing.T) {
	s := clitest.Schema(t, "../../../../../docs/schema/ps.schema.json")
	one := live.Record{ID: "20261123T225505Z-1", Started: cli.TimeText(time.Now()), Root: "/" + clitest.Hostile, Command: clitest.Hostile, WritePaths: []cli.PathText{clitest.Hostile}}
	full := one
	full.Name, full.PID, full.App, full.Ended, full.Code = "build", 7, "claude", one.Started, 143
	for _, list := range [][]live.Record{nil, {one, full}} {
		var out bytes.Buffer
		require.NoError(t, printJSON(cli.NewOutput(&out, nil), list))
		clitest.Validate(t, s, out.String())
		require.NotContains(t, out.String(), "\x1b")
		out.Reset()
		require.NoError(t, printTable(cli.NewOutput(&out, nil), list))
		require.NotContains(t, out.String(), "\x1b")
		require.Equal(t, 1+len(list), strings.Count(out.String(), "\n"), "one line each, whatever the names hold")
	}
}
