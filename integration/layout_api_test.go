package integration

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/api")

// TestLayoutAPI holds what each public package exports, on Linux, to
// testdata/api/<package>.txt: a name that is added, gone or has another type is
// seen in the change that does it. `go test ./integration -run API -update`
// writes the files.
func TestLayoutAPI(t *testing.T) {
	const dir = "../testdata/api"
	want := map[string]string{}
	for _, pkg := range list(t, "linux") {
		name := strings.TrimPrefix(pkg.ImportPath, module)
		if !isPublic(name) {
			continue
		}
		want[name+".txt"] = exported(t, filepath.Join("..", name), pkg.GoFiles)
	}
	if *update {
		require.NoError(t, os.RemoveAll(dir))
		for file, text := range want {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
		}
	}
	have := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		file, _ := filepath.Rel(dir, path)
		have[filepath.ToSlash(file)] = string(data)
		return err
	}))
	for file, text := range want {
		was, is := strings.Split(have[file], "\n"), strings.Split(text, "\n")
		gone := slices.DeleteFunc(slices.Clone(was), func(line string) bool { return slices.Contains(is, line) })
		added := slices.DeleteFunc(slices.Clone(is), func(line string) bool { return slices.Contains(was, line) })
		assert.True(t, have[file] == text, "%s: gone %q, added %q; go test ./integration -run API -update writes it", file, gone, added)
		delete(have, file)
	}
	assert.Empty(t, have, "files of packages that are gone")
}

// TestLayoutAPICanFail shows what counts as exported.
func TestLayoutAPICanFail(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte(`package a
// T is a type.
type T struct {
	A, b int
	*E
}
type I interface { M(x int) error; n() }
type E = string
func (t *T) Do(n ...int) (err error) { return nil }
func (t *T) hidden() {}
func (u unexported) Do() {}
type unexported[K any] struct{ X K }
func F[K comparable](k K) {}
const C, d = 1, 2
var V = F[int]
`), 0o644))
	require.Equal(t, strings.TrimLeft(`
const C
field T.*E
field T.A int
func F[K comparable](k K)
method (*T) Do(n ...int) (err error)
method I.M(x int) error
type E = string
type I interface
type T struct
var V
`, "\n"), exported(t, dir, []string{"a.go"}))
}

// exported lists what a package's files export, a name a line, in order.
func exported(t *testing.T, dir string, files []string) string {
	t.Helper()
	set := token.NewFileSet()
	show := func(n ast.Node) string {
		var b strings.Builder
		require.NoError(t, printer.Fprint(&b, set, n))
		return strings.Join(strings.Fields(b.String()), " ")
	}
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	members := func(kind string, list *ast.FieldList, of string, isMethod bool) {
		for _, f := range list.List {
			for _, name := range f.Names {
				if name.IsExported() && isMethod {
					add("%s %s.%s%s", kind, of, name, strings.TrimPrefix(show(f.Type), "func"))
				} else if name.IsExported() {
					add("%s %s.%s %s", kind, of, name, show(f.Type))
				}
			}
			if len(f.Names) == 0 {
				add("%s %s.%s", kind, of, show(f.Type))
			}
		}
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(set, filepath.Join(dir, file), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				sort, receiver := "func ", ""
				if f.Recv != nil {
					receiver = show(f.Recv.List[0].Type)
					sort = "method (" + receiver + ") "
				}
				if f.Name.IsExported() && (receiver == "" || ast.IsExported(strings.TrimPrefix(receiver, "*"))) {
					f.Body, f.Recv = nil, nil
					add("%s%s", sort, strings.TrimPrefix(show(f), "func "))
				}
				continue
			}
			for _, spec := range decl.(*ast.GenDecl).Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if name.IsExported() {
							add("%s %s", decl.(*ast.GenDecl).Tok, name)
						}
					}
				case *ast.TypeSpec:
					if !s.Name.IsExported() {
						continue
					}
					switch of := s.Type.(type) {
					case *ast.StructType:
						add("type %s struct", s.Name)
						members("field", of.Fields, s.Name.Name, false)
					case *ast.InterfaceType:
						add("type %s interface", s.Name)
						members("method", of.Methods, s.Name.Name, true)
					default:
						add("%s", "type "+show(s))
					}
				}
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// isPublic reports whether programs outside of the module may import a package.
func isPublic(name string) bool {
	return !isFree(name) && !strings.HasPrefix(name, "cmd/") && !strings.HasPrefix(name, "internal/") && !strings.Contains(name, "/internal/")
}

// shownElsewhere are public packages without an example of their own.
var shownElsewhere = map[string]string{
	"broker/brokerhttp":    "its socket and its client are a program's, not a snippet",
	"broker/otelaudit":     "it needs a collector",
	"broker/pgstore":       "it needs a server; Open is called as sqlitestore's",
	"broker/sqlitestore":   "in the example of broker",
	"broker/storetest":     "in the tests of the stores",
	"fileskills/skilltest": "in its package comment; Run takes a *testing.T",
}

// TestLayoutOfExamples holds that every public package shows how it is used, in a
// function that is compiled with its tests.
func TestLayoutOfExamples(t *testing.T) {
	for _, pkg := range list(t, "linux") {
		name := strings.TrimPrefix(pkg.ImportPath, module)
		if !isPublic(name) {
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", name, "example*_test.go"))
		require.NoError(t, err)
		has := slices.ContainsFunc(files, func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(text), "\nfunc Example")
		})
		_, elsewhere := shownElsewhere[name]
		assert.NotEqual(t, elsewhere, has, "%s: an example, or a reason in shownElsewhere", name)
	}
}
