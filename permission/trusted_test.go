package permission

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Files that programs run by themselves are protected by every policy that does
// not open them, in Check and in the resolver alike.
func TestUnprotect(t *testing.T) {
	const tasks, launch, envrc = "sub/.vscode/Tasks.json", ".vscode/launch.json", ".envrc"
	for _, c := range []struct {
		doc  string
		open []string
	}{
		{"fs: {read: [.], write: [.]}", nil},
		{"fs: {read: [.], write: [.], unprotect: []}", nil},
		{"fs: {read: [.], write: [.], unprotect: ['**/.vscode/tasks.json']}", []string{tasks}},
		{"fs: {read: [.], write: [.], unprotect: [.vscode]}", []string{tasks, launch}},
		{"fs: {read: [.], write: [.], unprotect: [.vscode, .envrc]}", []string{tasks, launch, envrc}},
		{"fs: {read: [.], write: [src], unprotect: [.vscode]}", nil}, // no write path covers them
		{"extends: WRITE\nfs: {write: [.], unprotect: [.envrc]}", []string{envrc}},
	} {
		p := compile(t, "version: 1\n"+c.doc)
		held, err := p.Resolver(t.TempDir())
		require.NoError(t, err)
		r, err := pathresolver.New(held.Config)
		require.NoError(t, err, c.doc)
		for _, place := range []string{tasks, launch, envrc, ".claude/settings.json"} {
			d := file(p, access.FSWrite, place)
			want := access.Deny
			for _, o := range c.open {
				if o == place {
					want = access.Allow
				}
			}
			require.Equal(t, want, d.Effect, "%s: %s", c.doc, place)
			require.Equal(t, want == access.Allow, places(r).Decide(access.OpWrite, place, 0) == nil, "%s: %s", c.doc, place)
			require.Equal(t, access.Allow, file(p, access.FSRead, place).Effect)
		}
		require.NoError(t, r.Close())
	}
	d := file(compile(t, "version: 1\nfs: {read: [.], write: [.]}"), access.FSWrite, tasks)
	require.Equal(t, pathresolver.RuleProtected, d.Code)
	require.Contains(t, d.Text(), "VS Code runs its tasks; 'unprotect' in the policy's fs opens '**/.vscode/tasks.json'")

	for _, word := range []string{".vscod", ".git/hooks", ".git", "", "**"} {
		refused(t, "version: 1\nfs: {read: [.], write: [.], unprotect: ['"+word+"']}")
	}
	require.Contains(t, refused(t, "version: 1\nfs: {unprotect: [.vscod]}"), "did you mean '.vscode'?")
	require.Contains(t, refused(t, "version: 1\nfs: {unprotect: [.git/hooks]}"), "only the flag --unprotect opens")
}

// A chain opens what every principal in it opens, and nothing else.
func TestUnprotectNeverExceedsParent(t *testing.T) {
	const closed, one, two = "version: 1\nfs: {read: [.], write: [.]}", "version: 1\nfs: {read: [.], write: [.], unprotect: [.vscode]}", "version: 1\nfs: {read: [.], write: [.], unprotect: [.vscode, .envrc]}"
	effect := func(parent, child, place string) access.Effect {
		p, _, err := compile(t, parent).Child(compile(t, child), Clamp)
		require.NoError(t, err)
		return file(p, access.FSWrite, place).Effect
	}
	for _, c := range []struct {
		parent, child string
		vscode, envrc access.Effect
	}{
		{closed, two, access.Deny, access.Deny}, {one, two, access.Allow, access.Deny}, {two, one, access.Allow, access.Deny}, {two, two, access.Allow, access.Allow}, {two, closed, access.Deny, access.Deny},
	} {
		require.Equal(t, c.vscode, effect(c.parent, c.child, ".vscode/tasks.json"), c)
		require.Equal(t, c.envrc, effect(c.parent, c.child, ".envrc"), c)
	}
	_, excess, err := compile(t, one).Child(compile(t, two), Reject)
	require.Error(t, err)
	require.Len(t, excess, 1)
	require.Equal(t, "'.envrc' is protected in 'p'", excess[0].Message)

	// What is added within one principal narrows, and leaves alone what it does
	// not speak of.
	narrow, _, err := compile(t, two).Narrow(decode(t, "version: 1\nfs: {hide: [x]}"), Clamp)
	require.NoError(t, err)
	require.Equal(t, access.Allow, file(narrow, access.FSWrite, ".envrc").Effect)
	narrow, _, err = compile(t, two).Narrow(decode(t, "version: 1\nfs: {unprotect: [.vscode]}"), Clamp)
	require.NoError(t, err)
	require.Equal(t, access.Deny, file(narrow, access.FSWrite, ".envrc").Effect)
	require.Equal(t, access.Allow, file(narrow, access.FSWrite, ".vscode/tasks.json").Effect)

	// It survives being stored, and counts for the hash.
	again, err := DecodePolicy(EncodePolicy(narrow))
	require.NoError(t, err)
	require.Equal(t, narrow.open, again.open)
	require.Equal(t, narrow.Hash(), again.Hash())
	require.NotEqual(t, compile(t, one).Hash(), compile(t, two).Hash())
}

// With ask_write too, the files are ones to ask for: an approval opens one.
func TestUnprotectAndAsk(t *testing.T) {
	p := compile(t, "version: 1\nfs: {read: [.], write: [.], ask_write: [.vscode], unprotect: [.vscode]}")
	require.Equal(t, access.Ask, file(p, access.FSWrite, ".vscode/tasks.json").Effect)
	require.Equal(t, access.Allow, file(p, access.FSWrite, "sub/.vscode/tasks.json").Effect)
	held, err := p.Resolver(t.TempDir())
	require.NoError(t, err)
	r, err := pathresolver.New(held.Config)
	require.NoError(t, err)
	defer r.Close()
	d := places(r).Decide(access.OpCreate, ".vscode/tasks.json", 0)
	require.Equal(t, pathresolver.RuleAsk, d.Rule)
	cfg := held.Config
	cfg.Grant = resolved.GrantFor(access.Access{Action: access.FSCreate, Resource: ".vscode/tasks.json"})
	granted, err := pathresolver.New(cfg)
	require.NoError(t, err)
	defer granted.Close()
	require.Nil(t, places(granted).Decide(access.OpCreate, ".vscode/tasks.json", 0))

	// Asking alone opens nothing.
	p = compile(t, "version: 1\nfs: {read: [.], write: [.], ask_write: [.vscode]}")
	require.Equal(t, access.Deny, file(p, access.FSWrite, ".vscode/tasks.json").Effect)
}

// diff tells of what is opened, and check warns of it.
func TestUnprotectIsTold(t *testing.T) {
	before, after := compile(t, "version: 1\nfs: {read: [.], write: [.]}"), compile(t, "version: 1\nfs: {read: [.], write: [.], unprotect: [.envrc, .claude]}")
	changes := diff(before, after)
	require.True(t, widens(changes), "%v", changes)
	require.False(t, widens(diff(after, before)))
	require.NotEmpty(t, diff(after, before))
	found := after.lint()
	require.Len(t, found, 2)
	require.Equal(t, "opens_trusted", found[0].Code)
	require.Equal(t, "'.envrc' lets the agent write what acts by itself: direnv runs it when a shell enters the directory", found[0].Message)
	require.Empty(t, before.lint())
}
