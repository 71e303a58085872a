package permission

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// What the resolver names is what Check names, for every kind of rule about
// files (A3).
func TestOriginsAreChecks(t *testing.T) {
	parent := compile(t, "version: 1\nname: base\nfs: {read: [.], write: [docs, src], hide: ['**/.env'], protect: [docs/LICENSE]}")
	child, err := Decode("child.yaml", []byte("version: 1\nname: inner\nfs:\n  write: [docs]\n  hide: [docs/key]"))
	require.NoError(t, err)
	p, _, err := parent.Narrow(child, Clamp)
	require.NoError(t, err)
	root := t.TempDir()
	held, err := p.Resolver(root)
	require.NoError(t, err)
	r, err := pathresolver.New(held.Config)
	require.NoError(t, err)
	defer r.Close()
	for place, want := range map[string]string{
		"go.mod":       "base:fs.write (p.yaml:3:17)",
		"src/a":        "inner:fs.write (child.yaml:4:3)",
		"docs/.env":    "base:fs.hide[0] (p.yaml:3:44)",
		"docs/key":     "inner:fs.hide[0] (child.yaml:5:10)",
		"docs/LICENSE": "base:fs.protect[0] (p.yaml:3:66)",
	} {
		d := places(r).Decide(access.OpWrite, place, 0)
		require.NotNil(t, d, place)
		by := file(p, access.FSWrite, place)
		require.Equal(t, by.Origin(), d.Origin, place)
		require.Equal(t, string(by.Code), string(d.Rule), place)
		require.Equal(t, want, d.Origin, place)
	}
	require.Nil(t, places(r).Decide(access.OpWrite, "docs/a", 0))

	held.NameFiles(func(name string) string { return "policies/" + name })
	require.Equal(t, "inner:fs.hide[0] (policies/child.yaml:5:10)", held.Config.Origins.Entries["hide[1]"])
	require.Equal(t, access.Position{File: "policies/child.yaml", Line: 5, Column: 10}, held.Positions["hide[1]"])
}
