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
	var asked []Request
	w := newWorld(t, func(c *Config) {
		c.Gate = gateFunc(func(_ context.Context, r Request) Decision {
			asked = append(asked, r)
			return Decision{Allow: r.Use.Path != "out"}
		})
	})
	ctx := context.Background()
	f, err := w.set.Open(ctx, "ok.txt")
	require.NoError(t, err)
	require.Equal(t, "ok.txt", f.Place())
	require.NoError(t, f.Close())
	require.Equal(t, []Request{{Skill: "read_file", Use: Use{"ok.txt", access.FSRead}}}, asked)
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
