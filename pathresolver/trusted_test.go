package pathresolver

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/trusted"
)

// instance is a place that a glob of the table matches.
func instance(glob string) string {
	return strings.NewReplacer("**/", "", "/**", "/x", "*", "pf").Replace(glob)
}

func TestTrustedTable(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range trusted.Files() {
		require.False(t, seen[f.Glob], "%s stands there twice", f.Glob)
		seen[f.Glob] = true
		require.NotEmpty(t, f.Name, f.Glob)
		require.NotEmpty(t, f.Program, f.Glob)
		require.False(t, f.Why == "" || strings.HasSuffix(f.Why, "."), "%s: Why is a clause", f.Glob)
		require.Regexp(t, `^(https://\S+|[a-z-]+\([15]\)|docs/\S+)$`, f.Source, f.Glob)
		for _, glob := range trusted.Braces(f.Glob) {
			_, err := compileGlob(glob)
			require.NoError(t, err, "%s is no glob", glob)
			at := instance(glob)
			g := trusted.All().Covers(at)
			require.NotNil(t, g, at)
			require.Equal(t, f.Glob, g.Glob, at)
			require.NotNil(t, trusted.All().Covers(strings.ToUpper(at)), "letter case")
			require.NotNil(t, trusted.All().Covers(at+"/beneath"), at)
			deep := "a/b/" + at
			if strings.HasPrefix(f.Glob, "**/") {
				require.NotNil(t, trusted.All().Covers(deep), deep)
				require.Nil(t, trusted.All().Covers("a/node_modules/b/"+at))
			} else {
				require.Nil(t, trusted.All().Covers(deep), deep)
			}
			for _, word := range []string{f.Glob, f.Name} {
				s, unknown := trusted.New([]string{word})
				require.Empty(t, unknown)
				require.Nil(t, s.Covers(at), "unprotect %s opens %s", word, at)
				require.Nil(t, s.Covers(path.Dir(at)+"/other"), "%s", word)
			}
		}
		for _, name := range f.But {
			require.Nil(t, trusted.All().Covers(path.Dir(instance(f.Glob))+"/"+name), "%s of %s is text", name, f.Glob)
		}
		_, later := trusted.RunsLaterAt(instance(f.Glob))
		require.False(t, later, "%s stands in both tables", f.Glob)
	}
	_, unknown := trusted.New([]string{".vscode", "nothing", ".git/hooks"})
	require.Equal(t, []string{"nothing", ".git/hooks"}, unknown)
	all, _ := trusted.New(trusted.Names())
	require.Nil(t, all)
	require.Len(t, all.Opens(), len(trusted.Files()))
	require.Empty(t, trusted.All().Opens())
}

// What the table compiles to is what its globs say, node_modules and the names
// that are text apart.
func TestTrustedSetIsItsGlobs(t *testing.T) {
	var globs []glob
	for _, f := range trusted.Files() {
		for _, text := range trusted.Braces(f.Glob) {
			if len(f.But) > 0 {
				text = strings.TrimSuffix(text, "**") + "*" // the directory itself may be made
			}
			g, err := compileGlob(text)
			require.NoError(t, err)
			globs = append(globs, g)
		}
	}
	rules := newRuleSet(globs)
	words := []string{"a", "src", "CLAUDE.md", "worktrees", "mise", "config.toml", "x.code-workspace", ".code-workspace", ".config", ".VIMrc", ".vim", "lefthook.go", "\u212airo", ".\u212airo"}
	for _, f := range trusted.Files() {
		for _, text := range trusted.Braces(f.Glob) {
			words = append(words, strings.Split(instance(text), "/")...)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		place := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 5).Draw(t, "names"), "/")
		g, want := trusted.All().Covers(place), rules.covers(place)
		if g != nil && want == nil {
			t.Fatalf("%s: %s covers it, and no glob does", place, g.Glob)
		}
		if g == nil && want != nil {
			text := false
			for _, f := range trusted.Files() {
				for _, but := range f.But {
					text = text || strings.Contains("/"+fold(place)+"/", strings.TrimPrefix(fold(strings.TrimSuffix(f.Glob, "**")), "**")+fold(but)+"/")
				}
			}
			if !text {
				t.Fatalf("%s: %s covers it, and no entry does", place, want.text)
			}
		}
	})
}

// No move brings anything under a protected name that was not under the same
// one before, and what has nothing to do with the table moves freely.
func TestTrustedMoves(t *testing.T) {
	s := trusted.All()
	refused := func(from, to string) bool {
		return s.Covers(from) != nil || s.Covers(to) != nil || s.Escapes(from, to) != nil || s.Escapes(to, from) != nil || s.Released(from, to) != nil
	}
	names := []string{"a", "b", "src", "node_modules", "rules", "worktrees", "tasks.json", "hooks", "config", "repo", "mise", "settings.json"}
	for _, f := range trusted.Files() {
		for _, text := range trusted.Braces(f.Glob) {
			names = append(names, strings.Split(instance(text), "/")...)
		}
	}
	some := rapid.SliceOfN(rapid.SampledFrom(names), 1, 4)
	rapid.Check(t, func(t *rapid.T) {
		from, to, tail := strings.Join(some.Draw(t, "from"), "/"), strings.Join(some.Draw(t, "to"), "/"), strings.Join(some.Draw(t, "tail"), "/")
		if refused(from, to) {
			return
		}
		before, after := s.Covers(from+"/"+tail), s.Covers(to+"/"+tail)
		if after != nil && before == nil {
			t.Fatalf("mv %s %s: %s comes under %s", from, to, tail, after.Glob)
		}
		if before != nil && after == nil && !strings.Contains("/"+to+"/", "/node_modules/") {
			t.Fatalf("mv %s %s: %s leaves %s", from, to, tail, before.Glob)
		}
	})
	for _, mv := range [][2]string{
		{"src/a", "src/b"}, {"a", "sub/a"}, {"sub/a", "a"}, {"a.tmp", "package.json"}, {"build", "dist"}, {"node_modules/.a-x", "node_modules/a"},
		{"a/node_modules", "b/node_modules"}, {"node_modules.new", "node_modules"}, {"x/.vscode", "y/.vscode"}, {"x/.claude", ".claude"}, {"x/.husky", "y/.husky"},
		{".github/workflows", ".github/w2"}, {"docs/.github", "x/.github"}, {"main.go.123", "main.go"}, {".claude/worktrees/x", "y"}, {"CLAUDE.tmp", "CLAUDE.md"},
		{"mise", "mise-bin"}, {"lefthook.go", "lefthook_test.go"}, {"Sub/README.md", "README.md"}, {".env.tmp", ".env"}, {"naïve", "naïve2"},
	} {
		require.False(t, mv[0] != "mise" && refused(mv[0], mv[1]), "mv %s %s", mv[0], mv[1])
	}
	for _, mv := range [][2]string{
		{"x", ".vscode"}, {"x", "sub/.vscode"}, {"x", ".claude"}, {".vscode", "x"}, {".claude", "c"}, {"x", ".config/mise"}, {"x", ".config"}, {"x", ".jj/repo"},
		{"x", ".husky"}, {"a", ".hg"}, {"node_modules/p", "p"}, {"node_modules", "n"}, {"node_modules/p/.vscode", ".vscode"}, {"x", ".github/hooks"},
		{"a", ".VSCODE"}, {".vs\u200bcode", "x"},
	} {
		require.True(t, refused(mv[0], mv[1]), "mv %s %s", mv[0], mv[1])
	}
}

// The refusal names the program and what opens the file; a link cannot take the
// place of a directory of the table; what is text stays writable.
func TestTrustedDecisions(t *testing.T) {
	p := &policy{write: []string{"."}, writeAt: map[string]string{".": ""}, trusted: trusted.All(), gitDir: true}
	for _, op := range []access.Op{access.OpWrite, access.OpCreate, access.OpDelete, access.OpMeta, access.OpRename, access.OpLink} {
		d := p.denies(op, "sub/.VSCode/Tasks.json", 0)
		require.NotNil(t, d, op)
		require.Equal(t, RuleProtected, d.Rule)
		require.Equal(t, "VS Code runs its tasks; --unprotect '**/.vscode/tasks.json' opens it", d.Reason)
		require.Equal(t, "**/.vscode/tasks.json", d.Pattern)
	}
	require.Nil(t, p.denies(access.OpRead, ".vscode/tasks.json", 0))
	for _, dir := range []string{".vscode", "a/.vscode", ".claude", ".config", ".config/mise", ".jj/repo", "mise", ".github"} {
		if dir == ".config/mise" {
			require.NotNil(t, p.denies(access.OpCreate, dir, fs.ModeDir))
			continue
		}
		require.Nil(t, p.denies(access.OpCreate, dir, fs.ModeDir), dir)
		d := p.denies(access.OpCreate, dir, 0)
		if dir == ".jj/repo" { // a file there names another directory
			require.NotNil(t, d)
			require.Contains(t, d.Reason, "not as a file: jj runs")
			opened := *p
			opened.trusted, _ = trusted.New([]string{".jj"})
			require.Nil(t, opened.denies(access.OpCreate, dir, 0))
		} else {
			require.Nil(t, d, dir)
		}
		d = p.denies(access.OpCreate, dir, fs.ModeSymlink)
		require.NotNil(t, d, dir)
		require.Contains(t, d.Reason, "not as a link")
	}
	for _, at := range []string{"link", "node_modules/.bin/x", "node_modules/p/.vscode", ".claude/rules", "CLAUDE.md"} {
		require.Nil(t, p.denies(access.OpCreate, at, fs.ModeSymlink), at)
	}
	for _, at := range []string{"main.go", "package.json", "Makefile", "CLAUDE.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".github/workflows/ci.yml", ".github/copilot-instructions.md",
		".github/CODEOWNERS", ".claude/CLAUDE.md", ".claude/rules/go.md", ".claude/worktrees/x/main.go", ".kiro/specs/a.md", ".env", ".gitignore", ".editorconfig", ".eslintrc.js",
		".npmrc", ".yarnrc.yml", ".lintstagedrc", ".huskyrc", ".bsp/sbt.json", ".formatter.exs", ".repo/projects/x.git/HEAD", ".sl/store/x", ".bazelrc", ".python-version", ".nvmrc", ".vscode/cspell.json", "flake.nix", "sub/.husky/pre-commit",
		"node_modules/p/.vscode/tasks.json", "node_modules/p/.idea/x", "lefthook.go", "mise.md", ".clinerules/style.md", ".clinerules"} {
		require.Nil(t, p.denies(access.OpCreate, at, 0), at)
		require.Nil(t, p.denies(access.OpWrite, at, 0), at)
		require.Nil(t, p.denies(access.OpDelete, at, 0), at)
	}
	require.NotNil(t, p.denies(access.OpWrite, ".claude/worktrees/x/.vscode/tasks.json", 0))
	require.NotNil(t, p.denies(access.OpWrite, ".husky/pre-commit", 0))

	p.trusted, _ = trusted.New([]string{".vscode", ".husky"})
	require.Nil(t, p.denies(access.OpWrite, ".vscode/tasks.json", 0))
	require.Nil(t, p.denies(access.OpCreate, ".vscode", fs.ModeSymlink))
	require.Nil(t, p.denies(access.OpWrite, ".husky/pre-commit", 0))
	require.NotNil(t, p.denies(access.OpWrite, ".envrc", 0))
	p.trusted, _ = trusted.New([]string{"**/.vscode/tasks.json"})
	require.Nil(t, p.denies(access.OpWrite, ".vscode/tasks.json", 0))
	require.NotNil(t, p.denies(access.OpWrite, ".vscode/launch.json", 0))

	p.trusted, p.origins.Entries = trusted.All(), map[string]string{"protect": "always:protect (built in)"}
	require.Equal(t, "direnv runs it when a shell enters the directory; 'unprotect' in the policy's fs opens '**/.envrc'", p.denies(access.OpWrite, ".envrc", 0).Reason)
}

func TestTrustedCostsNothing(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(100, func() {
		trusted.All().Covers("src/deep/down/Main_test.go")
		trusted.All().Covers(".github/workflows/ci.yml")
	}))
}

func BenchmarkTrusted(b *testing.B) {
	p := &policy{write: []string{"."}, writeAt: map[string]string{".": ""}, gitDir: true}
	for _, set := range []struct {
		name string
		s    *trusted.Set
	}{{"without", nil}, {"with", trusted.All()}} {
		p.trusted = set.s
		b.Run("verdict/"+set.name, func(b *testing.B) {
			for b.Loop() {
				p.verdictAt("internal/server/handlers/Main_test.go")
			}
		})
		b.Run("rename/"+set.name, func(b *testing.B) {
			for b.Loop() {
				p.decideRename(nil, "internal/server/handlers/a.tmp", "internal/server/handlers/a.go", false)
			}
		})
	}
	b.Run("compile", func(b *testing.B) {
		for b.Loop() {
			_, _ = trusted.New([]string{".vscode"})
		}
	})
}
