package pathresolver_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// A grant is for exactly what it names, where a rule asks, and lifts
// nothing else: what is hidden, protected or never writable stays so.
func TestGrant(t *testing.T) {
	_, root := scene(t, "ask/f = f", "ask/.env = s", "ask/LICENSE = free", "ask/d/x = x", "out/x = x", "vault/a = SECRET", "vault/b = SECRET")
	var given atomic.Pointer[pathresolver.Grant]
	give := func(accesses ...access.Access) {
		g := pathresolver.Grant(resolved.GrantFor(accesses...))
		given.Store(&g)
	}
	at := func(op access.Op, place string) access.Access {
		return access.Access{Action: op.Action(), Resource: place}
	}
	ask := pathresolver.RuleAsk
	cfg := pathresolver.Config{
		Root: root, WritePaths: []string{"out"}, Hide: []string{"**/.env"}, Protect: []string{"ask/LICENSE"},
		AskWrite: []string{"ask"}, AskRead: []string{"vault"},
		Grant: func(op access.Op, place string) bool { return (*given.Load())(op, place) },
	}
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		give()
		denied(t, r.WriteFile("ask/f", nil, 0o644), ask)
		_, err := r.ReadFile("vault/a")
		denied(t, err, ask)

		give(at(access.OpWrite, "ask/f"), at(access.OpRead, "vault/a"))
		require.NoError(t, r.WriteFile("ask/f", []byte("new"), 0o644))
		require.True(t, r.Explain(access.OpWrite, "ask/f").Allowed)
		require.Equal(t, "it was granted", r.Explain(access.OpWrite, "ask/f").Reason)
		_, err = r.ReadFile("vault/a")
		require.NoError(t, err)
		_, err = r.ReadFile("vault/b")
		denied(t, err, ask)
		denied(t, r.WriteFile("ask/d/x", nil, 0o644), ask)
		denied(t, r.Remove("ask/f"), ask)
		denied(t, r.Chmod("ask/f", 0o600), ask)
		denied(t, r.Mkdir("ask/new", 0o755), ask)
		denied(t, r.Link("ask/f", "out/alias"), ask)
		denied(t, r.Rename("ask/f", "out/taken", pathresolver.RenameReplace), ask)

		all := cfg
		all.Grant = func(access.Op, string) bool { return true }
		wide, err := pathresolver.New(all)
		require.NoError(t, err)
		defer wide.Close()
		_, err = wide.ReadFile("ask/.env")
		denied(t, err, pathresolver.RuleHidden)
		denied(t, wide.WriteFile("ask/LICENSE", nil, 0o644), pathresolver.RuleProtected)
		denied(t, wide.WriteFile("other", nil, 0o644), pathresolver.RuleNoWritePath)
		denied(t, wide.WriteFile("vault/a", nil, 0o644), pathresolver.RuleNoWritePath)

		give() // withdrawn, at once
		denied(t, r.WriteFile("ask/f", nil, 0o644), ask)
	})
}

// What moves out of reach of a rule, or gets another name, does so for good: it
// needs a grant to move, and to read where reading has to be asked for.
func TestGrantMovesAndLinks(t *testing.T) {
	_, root := scene(t, "ask/d/x = x", "out/key = SECRET", "out/plain = x", "out/deep/gen/x = x")
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"},
		AskWrite: []string{"ask", "out/deep/**/gen"}, AskRead: []string{"out/key"}})
	require.NoError(t, err)
	defer r.Close()
	at := func(op access.Op, place string) access.Access {
		return access.Access{Action: op.Action(), Resource: place}
	}
	move, read, write, create := access.OpRename, access.OpRead, access.OpWrite, access.OpCreate
	rename := func(from, to string, accesses ...access.Access) *pathresolver.DeniedError {
		return r.DecideRenameGranted(resolved.GrantFor(accesses...), from, to, false)
	}
	link := func(from, to string, accesses ...access.Access) *pathresolver.DeniedError {
		return r.DecideLinkGranted(resolved.GrantFor(accesses...), from, to)
	}
	refused := func(d *pathresolver.DeniedError, rule access.Code) {
		t.Helper()
		require.NotNil(t, d)
		require.Equal(t, rule, d.Rule)
	}
	ask, escapes := pathresolver.RuleAsk, pathresolver.RuleEscapes

	refused(r.DecideRename("ask/d", "ask/e", false), ask)
	refused(rename("ask/d", "ask/e", at(move, "ask/d")), ask)
	require.Nil(t, rename("ask/d", "ask/e", at(move, "ask/d"), at(move, "ask/e")))
	require.Nil(t, rename("ask/d", "out/d", at(move, "ask/d")))
	require.Nil(t, rename("out/plain", "ask/p", at(move, "ask/p")))
	refused(rename("out/key", "out/open", at(move, "out/key")), escapes)
	require.Nil(t, rename("out/key", "out/open", at(move, "out/key"), at(read, "out/key")))
	refused(rename("out/deep", "out/d2", at(move, "out/deep"), at(move, "out/d2")), escapes)

	refused(link("ask/d/x", "out/l", at(write, "ask/d/x")), ask)
	require.Nil(t, link("ask/d/x", "out/l", at(write, "ask/d/x"), at(move, "ask/d/x")))
	refused(link("out/key", "out/l", at(write, "out/key"), at(move, "out/key")), ask)
	require.Nil(t, link("out/key", "out/l", at(write, "out/key"), at(move, "out/key"), at(read, "out/key")))
	refused(link("out/plain", "ask/l"), ask)
	require.Nil(t, link("out/plain", "ask/l", at(create, "ask/l")))
	require.Nil(t, r.DecideLink("out/plain", "out/l"), "without a rule nothing is asked for")
}

// Where no rule asks nobody is asked, and it costs nothing.
func TestGrantCostsNothing(t *testing.T) {
	_, root := scene(t)
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"src"},
		Grant: func(_ access.Op, place string) bool { t.Error(place); return true }})
	require.NoError(t, err)
	defer r.Close()
	require.Less(t, testing.AllocsPerRun(100, func() {
		if r.DecideGranted(nil, access.OpWrite, "src/x", 0) != nil || r.DecideRenameGranted(nil, "src/x", "src/y", false) != nil {
			t.Error("refused")
		}
	}), 0.5)
	require.NotNil(t, r.Decide(access.OpWrite, "x", 0))
}
