package fileskills

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
)

// TestOpen: what shows files by other means than a skill asks the same rules
// and the same gate.
func TestOpen(t *testing.T) {
	var asked []access.Request
	w := newWorld(t, func(c *Config) {
		c.Gate = gateFunc(func(_ context.Context, r access.Request) access.Decision {
			asked = append(asked, r)
			if r.Path == "out" {
				return access.Decision{}
			}
			return access.Decision{Effect: access.Allow}
		})
	})
	ctx := context.Background()
	f, err := w.set.Open(ctx, "ok.txt")
	require.NoError(t, err)
	require.Equal(t, "ok.txt", f.Place())
	require.NoError(t, f.Close())
	require.Equal(t, []access.Request{
		{Tool: "read_file", Action: access.ToolUse, Resource: "read_file", MayBlock: true},
		{Tool: "read_file", Action: access.FSRead, Resource: "ok.txt", Path: "ok.txt", MayBlock: true},
	}, asked)
	d, err := w.set.OpenDir(ctx, ".")
	require.NoError(t, err)
	require.NoError(t, d.Close())
	var e *Error
	_, err = w.set.OpenDir(ctx, "out")
	require.ErrorAs(t, err, &e)
	require.Equal(t, CodePermissionDenied, e.Code)
	_, err = w.set.Open(ctx, "../outside/secret")
	require.ErrorAs(t, err, &e)
	require.Equal(t, CodePathOutsideRoot, e.Code)
	_, err = w.set.Open(ctx, "none")
	require.ErrorAs(t, err, &e)
	require.Equal(t, CodeNotFound, e.Code)
}
