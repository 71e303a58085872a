package fileskills_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// D41: a call may be made with leave for one place, and the next one is without
// it again. Where somebody can be asked, what writes is offered though nothing
// may be written yet (T24's listing; W5 where nobody can).
func TestASetWithLeaveForOneCall(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "src"), 0o755))
	cfg := pathresolver.Config{Root: root, AskWrite: []string{"src"}}
	at := func(cfg pathresolver.Config) *pathresolver.Resolver {
		r, err := pathresolver.New(cfg)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, r.Close()) })
		return r
	}
	plain, err := fileskills.New(fileskills.Config{Resolver: at(cfg)})
	require.NoError(t, err)
	set, err := fileskills.New(fileskills.Config{Resolver: at(cfg), Asked: true, Guard: fileskills.GuardRequire})
	require.NoError(t, err)
	names := func(s *fileskills.Set) (list []string) {
		for _, k := range s.Skills() {
			list = append(list, k.Name)
		}
		return list
	}
	require.NotContains(t, names(plain), "write_file")
	require.Contains(t, names(set), "write_file")

	write := []byte(`{"path":"src/a","content":"x"}`)
	var denied *pathresolver.DeniedError
	_, err = set.Call(t.Context(), "write_file", write)
	require.True(t, errors.As(err, &denied) && denied.Rule == pathresolver.RuleAsk, "%v", err)
	cfg.Grant = pathresolver.GrantFor(access.Access{Action: access.FSWrite, Resource: "src/a"}, access.Access{Action: access.FSCreate, Resource: "src/a"})
	with := set.Over(at(cfg))
	_, err = with.Call(t.Context(), "write_file", write)
	require.NoError(t, err)
	_, err = with.Call(t.Context(), "write_file", []byte(`{"path":"src/b","content":"x"}`))
	require.Error(t, err, "one place is one place")
	_, err = set.Call(t.Context(), "write_file", write)
	require.Error(t, err, "the Set itself is as it was")

	// What was read is known to both: the guard is one.
	require.NoError(t, os.WriteFile(filepath.Join(root, "src/a"), []byte("new"), 0o644))
	_, err = with.Call(t.Context(), "write_file", write)
	require.Error(t, err)
	_, err = set.Call(t.Context(), "read_file", []byte(`{"path":"src/a"}`))
	require.NoError(t, err)
	_, err = with.Call(t.Context(), "write_file", write)
	require.NoError(t, err)
}
