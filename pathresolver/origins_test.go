package pathresolver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// A refusal names where the entry that decided was written, and of a place that
// no write path covers the first list that lacks it.
func TestOrigins(t *testing.T) {
	_, root := scene(t, ".env = s", "out/keep/x = x", "out/lib/keys/k = k")
	origins := resolved.Origins{
		Entries: map[string]string{"hide[0]": "p:fs.hide[0] (p.yaml:1:1)", "protect[0]": "p:fs.protect[0] (p.yaml:2:1)",
			"write_paths[1]": "p:fs.write[1] (p.yaml:3:9)", "protect": "always:protect"},
		Write: []resolved.OriginList{
			{Paths: []string{"out", "src/**"}, Origin: "p:fs.write (p.yaml:3:1)"},
			{Paths: []string{"out"}, Origin: "child:fs.write"},
		},
	}
	cfg := pathresolver.Config{Root: root, WritePaths: []string{"out/deeper", "out"}, Hide: []string{"**/.env"},
		Protect: []string{"out/keep", "out/lib/keys"}, Origins: origins}
	modes(t, cfg, func(t *testing.T, r *pathresolver.Resolver) {
		write := func(p string) error { return r.WriteFile(p, nil, 0o644) }
		for _, c := range []struct {
			err    error
			rule   access.Code
			origin string
		}{
			{write("sub/.env"), pathresolver.RuleHidden, "p:fs.hide[0] (p.yaml:1:1)"},
			{write("out/keep/x"), pathresolver.RuleProtected, "p:fs.protect[0] (p.yaml:2:1)"},
			{write(".git/config"), pathresolver.RuleProtected, "always:protect"},
			{write("a/x"), pathresolver.RuleNoWritePath, "p:fs.write (p.yaml:3:1)"},
			{write("src/x"), pathresolver.RuleNoWritePath, "child:fs.write"},
			{r.Remove("out"), pathresolver.RuleWritePathSelf, "p:fs.write[1] (p.yaml:3:9)"},
			{r.Rename("out/lib", "out/l", pathresolver.RenameReplace), pathresolver.RuleEscapes, ""},
		} {
			d := denied(t, c.err, c.rule)
			require.Equal(t, c.origin, d.Origin, d.Error())
			if c.origin == "" {
				require.NotContains(t, d.Error(), "\nrule: ")
				continue
			}
			require.Contains(t, d.Error(), "\n"+pathresolver.OriginText(c.origin))
			if d.Rule != pathresolver.RuleWritePathSelf {
				require.Equal(t, c.origin, r.Explain(access.OpWrite, d.Path).Origin)
			}
		}
		require.Equal(t, "p:fs.write[1] (p.yaml:3:9)", r.Explain(access.OpWrite, "out/x").Origin, "what allows is named too")

		// As a run shows them inside: counted as WritePaths does.
		require.Equal(t, []string{"out"}, r.WritePaths())
		got := r.Origins()
		require.Equal(t, "p:fs.write[1] (p.yaml:3:9)", got.Entries["write_paths[0]"])
		require.NotContains(t, got.Entries, "write_paths[1]")
		require.Equal(t, origins.Write, got.Write)
	})
	cfg.Origins = resolved.Origins{}
	r, err := pathresolver.New(cfg)
	require.NoError(t, err)
	defer r.Close()
	require.NotContains(t, r.WriteFile("a/x", nil, 0o644).Error(), "rule:", "without origins nothing is named")
}
