package integration

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stop is how the pages name a place in the code:
// `fileskills/call.go: Set.Call`, a file and a function, method, type, variable
// or constant in it.
var stop = regexp.MustCompile("`([a-zA-Z0-9_/.-]+\\.go): ([A-Za-z0-9_.]+)`")

// TestLayoutOfStops holds every place in the code that these pages name true,
// and the walks in docs/architecture.md to one place a line, twelve lines at most.
func TestLayoutOfStops(t *testing.T) {
	for page, least := range map[string]int{"README.md": 20, "docs/architecture.md": 15, "docs/decisions.md": 9} {
		text := pageText(t, page)
		stops := stop.FindAllStringSubmatch(text, -1)
		require.Greater(t, len(stops), least, page)
		for _, s := range stops {
			assert.True(t, declares(t, s[1], s[2]), "%s names %s in %s", page, s[2], s[1])
		}
	}
	walks := regexp.MustCompile(`(?m)^## Walk: .*\n`).Split(pageText(t, "docs/architecture.md"), -1)[1:]
	require.Len(t, walks, 2)
	for _, walk := range walks {
		walk, _, _ = strings.Cut(walk, "\n## ")
		lines := regexp.MustCompile(`(?m)^\d+\. .*$`).FindAllString(walk, -1)
		assert.NotEmpty(t, lines)
		assert.LessOrEqual(t, len(lines), 12)
		for _, line := range lines {
			assert.Len(t, stop.FindAllString(line, -1), 1, line)
		}
	}
}

// TestLayoutOfFiles holds that the files that docs/architecture.md names, by their
// last name or a glob of it, are there.
func TestLayoutOfFiles(t *testing.T) {
	var files []string
	require.NoError(t, filepath.WalkDir("..", func(_ string, d os.DirEntry, err error) error {
		files = append(files, d.Name())
		return err
	}))
	named := regexp.MustCompile("`([a-z0-9_*]+\\.go)`").FindAllStringSubmatch(pageText(t, "docs/architecture.md"), -1)
	require.NotEmpty(t, named)
	for _, n := range named {
		assert.True(t, slices.ContainsFunc(files, func(file string) bool {
			ok, err := filepath.Match(n[1], file)
			return ok && err == nil
		}), "docs/architecture.md names %s", n[1])
	}
}

// TestLayoutOfStopsCanFail shows that a wrong name is found.
func TestLayoutOfStopsCanFail(t *testing.T) {
	require.True(t, declares(t, "integration/layout_docs_test.go", "TestLayoutOfStopsCanFail"))
	require.False(t, declares(t, "integration/layout_docs_test.go", "TestLayoutOfStopsCannotFail"))
	require.False(t, declares(t, "integration/no_such_test.go", "TestLayoutOfStops"))
}

// declares reports whether a file of the repository declares name, which is
// Type.Method for a method.
func declares(t *testing.T, file, name string) bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", file), nil, parser.SkipObjectResolution)
	if os.IsNotExist(err) {
		return false
	}
	require.NoError(t, err)
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if receiver(d)+d.Name.Name == name {
				return true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.Name == name {
						return true
					}
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.Name == name {
							return true
						}
					}
				}
			}
		}
	}
	return false
}

// receiver is "Type." of a method, and nothing of a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	return of.(*ast.Ident).Name + "."
}

// link is one from a page to a file of the repository, with the heading that it
// names.
var link = regexp.MustCompile(`\]\(([^):#\s]*)(?:#([^)\s]*))?\)`)

// TestLayoutOfLinks holds that what the pages link to is there, headings included.
func TestLayoutOfLinks(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	for _, page := range append(pages, "../README.md") {
		page, err := filepath.Rel("..", page)
		require.NoError(t, err)
		for _, l := range link.FindAllStringSubmatch(pageText(t, page), -1) {
			to := filepath.Join(filepath.Dir(page), l[1])
			if l[1] == "" {
				to = page
			}
			_, err := os.Stat(filepath.Join("..", to))
			if assert.NoError(t, err, "%s links to %s", page, l[0]) && l[2] != "" {
				assert.Contains(t, headings(pageText(t, to)), l[2], "%s links to %s", page, l[0])
			}
		}
	}
}

// headings are the names by which the headings of a page are linked to.
func headings(text string) (names []string) {
	fenced := regexp.MustCompile("(?ms)^```.*?^```")
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(h[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

func pageText(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", page))
	require.NoError(t, err)
	return string(text)
}
