package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/leftover"
)

func TestLeftFitsItsSchema(t *testing.T) {
	s := schema(t, "../../docs/schema/left.schema.json")
	for _, records := range [][]leftRecord{nil, {{Run: "x", Root: "/" + hostile, Command: hostile, Ended: timeText(time.Now()), Items: someLeft(), Omitted: 1}}} {
		var out bytes.Buffer
		require.NoError(t, printLeftJSON(newOutput(&out, nil), records))
		validate(t, s, out.String())
		require.NotContains(t, out.String(), "\x1b")
	}
	var out bytes.Buffer
	printLeft(newOutput(&out, nil), []leftRecord{{Run: "x", Root: "/project", Items: someLeft()}})
	require.NotContains(t, out.String(), "\x1b")
	require.Equal(t, 1+len(leftover.Kinds()), strings.Count(out.String(), "\n"), "one line each, whatever the names hold")
}
