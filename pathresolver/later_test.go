package pathresolver

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRunsLater(t *testing.T) {
	when := map[string]bool{WhenInstall: true, WhenBuild: true, WhenTest: true, WhenCommit: true, WhenPush: true, WhenDeploy: true}
	seen := map[string]bool{}
	for _, l := range RunsLater() {
		require.True(t, when[l.When], "%+v", l)
		require.NotEmpty(t, l.Program, "%+v", l)
		require.False(t, seen[l.Glob], "%s stands there twice", l.Glob)
		seen[l.Glob] = true
	}
	for place, want := range map[string]LaterFile{
		"package.json":              {"**/package.json", "npm, yarn, pnpm or bun", WhenInstall},
		"a/b/PACKAGE.json":          {"**/package.json", "npm, yarn, pnpm or bun", WhenInstall},
		"makefile":                  {"**/Makefile", "make", WhenBuild},
		"x/rules.mk":                {"**/*.mk", "make", WhenBuild},
		"web/vite.config.ts":        {"**/*.config.ts", "the tool that it configures", WhenBuild},
		".github/workflows/ci.yml":  {".github/workflows", "GitHub Actions", WhenPush},
		".yarn/releases/yarn-4.cjs": {"**/.yarn", "yarn", WhenInstall},
		"tests/conftest.py":         {"**/conftest.py", "pytest", WhenTest},
		"docker-compose.dev.yml":    {"**/docker-compose*.yml", "docker compose", WhenBuild},
	} {
		l, ok := RunsLaterAt(place)
		require.True(t, ok, place)
		require.Equal(t, want, l, place)
	}
	for _, place := range []string{".", "src/main.go", "README.md", "CLAUDE.md", "AGENTS.md", "sub/.github/workflows/ci.yml", "package.json.bak"} {
		_, ok := RunsLaterAt(place)
		require.False(t, ok, place)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { RunsLaterAt("src/deep/down/main_test.go") }))
}
