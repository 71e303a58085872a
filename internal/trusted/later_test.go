package trusted_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/internal/globs"
	"github.com/pinfold-dev/pinfold/internal/trusted"
)

func TestRunsLater(t *testing.T) {
	when := map[string]bool{trusted.WhenInstall: true, trusted.WhenBuild: true, trusted.WhenTest: true, trusted.WhenCommit: true, trusted.WhenPush: true, trusted.WhenDeploy: true}
	seen := map[string]bool{}
	for _, l := range trusted.RunsLater() {
		require.True(t, when[l.When], "%+v", l)
		require.NotEmpty(t, l.Program, "%+v", l)
		require.False(t, seen[l.Glob], "%s stands there twice", l.Glob)
		seen[l.Glob] = true
	}
	for place, want := range map[string]trusted.LaterFile{
		"package.json":              {"**/package.json", "npm, yarn, pnpm or bun", trusted.WhenInstall},
		"a/b/PACKAGE.json":          {"**/package.json", "npm, yarn, pnpm or bun", trusted.WhenInstall},
		"makefile":                  {"**/Makefile", "make", trusted.WhenBuild},
		"x/rules.mk":                {"**/*.mk", "make", trusted.WhenBuild},
		"web/vite.config.ts":        {"**/*.config.ts", "the tool that it configures", trusted.WhenBuild},
		".github/workflows/ci.yml":  {".github/workflows", "GitHub Actions", trusted.WhenPush},
		".yarn/releases/yarn-4.cjs": {"**/.yarn", "yarn", trusted.WhenInstall},
		"tests/conftest.py":         {"**/conftest.py", "pytest", trusted.WhenTest},
		"docker-compose.dev.yml":    {"**/docker-compose*.yml", "docker compose", trusted.WhenBuild},
	} {
		l, ok := trusted.RunsLaterAt(place)
		require.True(t, ok, place)
		require.Equal(t, want, l, place)
	}
	for _, place := range []string{".", "src/main.go", "README.md", "CLAUDE.md", "AGENTS.md", "sub/.github/workflows/ci.yml", "package.json.bak"} {
		_, ok := trusted.RunsLaterAt(place)
		require.False(t, ok, place)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { trusted.RunsLaterAt("src/deep/down/main_test.go") }))
}

// The index finds what trying one glob after the other finds.
func TestRunsLaterIsItsGlobs(t *testing.T) {
	var all []globs.Glob
	words := []string{"a", "src", "main.go", "\u212a.mk", "x.M\u212a", ".eslintrc", "config.js", "requirements.txt"}
	for _, l := range trusted.RunsLater() {
		g, err := globs.Parse(globs.Fold(l.Glob))
		require.NoError(t, err)
		all = append(all, g)
		for _, name := range strings.Split(strings.TrimPrefix(l.Glob, "**/"), "/") {
			plain := strings.ReplaceAll(name, "*", "pf")
			words = append(words, plain, strings.ToUpper(plain), strings.ReplaceAll(name, "*", ""), plain+"x")
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		place := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 4).Draw(t, "names"), "/")
		want := ""
		for i, g := range all {
			if globs.Covers(g, globs.Fold(place)) {
				want = trusted.RunsLater()[i].Glob
				break
			}
		}
		if l, ok := trusted.RunsLaterAt(place); l.Glob != want || ok != (want != "") {
			t.Fatalf("%s: %q, and its globs say %q", place, l.Glob, want)
		}
	})
}
