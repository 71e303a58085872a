package pathresolver_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Who reads through a Resolver gets the file itself, so what is masked is neither read nor
// changed, nor moved out of the reach of its glob. Its name is seen.
func TestMasked(t *testing.T) {
	_, root := scene(t, "kept/.env = s", "out/link => ../kept/.env", "private/a = s", "plain/x = x")
	cfg := pathresolver.Config{Root: root, WritePaths: []string{"."}, Mask: []string{"kept/.env", "private"}}
	masked, escapes := pathresolver.RuleMasked, pathresolver.RuleEscapes
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		for _, p := range []string{"kept/.env", "kept/.ENV", "out/../kept/.env", "out/link", "private/a"} {
			_, err := r.ReadFile(p)
			denied(t, err, masked)
			denied(t, r.WriteFile(p, nil, 0o644), masked)
		}
		for _, p := range []string{"kept/.env", "private/a"} {
			_, err := r.Lstat(p)
			require.NoError(t, err, "its name is seen")
			denied(t, r.Remove(p), masked)
			denied(t, r.Rename(p, "y", pathresolver.RenameReplace), masked)
			denied(t, r.Rename("plain/x", p, pathresolver.RenameReplace), masked)
		}
		denied(t, r.WriteFile("private/new", nil, 0o644), masked)
		denied(t, r.RemoveAll("kept"), masked)
		denied(t, r.Rename("kept", "kept2", pathresolver.RenameReplace), escapes)
		denied(t, r.Rename("plain", "kept", pathresolver.RenameExchange), escapes)
		require.NoError(t, r.Rename("plain", "plain2", pathresolver.RenameReplace))
		require.NoError(t, r.Rename("plain2", "plain", pathresolver.RenameReplace))
	})
	// The control.
	cfg.Mask = nil
	r, err := pathresolver.New(cfg)
	require.NoError(t, err)
	defer r.Close()
	_, err = r.ReadFile("kept/.env")
	require.NoError(t, err)
	require.NoError(t, r.WriteFile("kept/.env", []byte("s"), 0o644))
	require.NoError(t, r.Rename("kept", "kept2", pathresolver.RenameReplace))
}

// What is masked is no write path.
func TestMaskedWritePath(t *testing.T) {
	_, root := scene(t, "private/a = s")
	cfg := pathresolver.Config{Root: root, WritePaths: []string{"private"}, Mask: []string{"private"}}
	_, err := pathresolver.New(cfg)
	var refused *pathresolver.ConfigError
	require.True(t, errors.As(err, &refused), "%v", err)
	require.ErrorContains(t, err, "'private' is masked by 'private'")
	cfg.Mask = []string{"private/b"}
	r, err := pathresolver.New(cfg)
	require.NoError(t, err, "the control")
	require.NoError(t, r.Close())
}
