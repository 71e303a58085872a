package integration

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/cases"
)

// TestRows holds that each row of testdata/rows.txt is cited by a test, and each clause
// of a row by an assertion. With -v it prints by which, and which rows have clauses.
func TestRows(t *testing.T) {
	rows, proofs, clauses := loadRows(t, "../testdata/rows.txt")
	asserting := assertions{}
	split := map[string]bool{}
	for _, c := range clauses {
		split[c.row] = true
		assert.NoError(t, asserting.hold(filepath.Join("..", c.file), c.text), "%s.%s %s", c.row, c.letter, c.what)
		t.Logf("%s.%s %s: %s", c.row, c.letter, c.what, c.file)
	}
	t.Logf("%d of %d rows have clauses, %d in all", len(split), len(rows), len(clauses))
	cited := citations(t, "..")
	for _, row := range rows {
		if rowProved.MatchString(row) {
			tests, none := strings.CutPrefix(proofs[row], "no attack: ")
			attacks := attacksOf(t, row)
			assert.Equal(t, none, len(attacks) == 0, "attacks about %s", row)
			proved := proofsOf(t, "..", tests)
			assert.NotEmpty(t, proved, "%s names no test", row)
			cited[row] = append(attacks, proved...)
		}
		if assert.NotEmpty(t, cited[row], "%s is cited by no test", row) {
			t.Logf("%-4s %s", row, strings.Join(cited[row], ", "))
		}
	}
	require.Empty(t, cited["W9"], "there is no such row: the scan finds what is not there")
}

// clause is a part of a row that holds by itself, and the text of an assertion about it.
type clause struct{ row, letter, what, file, text string }

// clauseLine is a clause beneath its row: "  a what holds | FILE: text of the assertion".
var clauseLine = regexp.MustCompile(`^  ([a-z]) (.+) \| (\S+\.(?:go|txtar)): (.{8,})$`)

// loadRows reads the names of the rows, of the tests that some name, and the clauses.
func loadRows(t *testing.T, file string) (rows []string, proofs map[string]string, clauses []clause) {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	proofs = map[string]string{}
	letter := byte('a')
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), " ") {
			m := clauseLine.FindStringSubmatch(lines.Text())
			require.NotNil(t, m, "no clause: %q", lines.Text())
			require.NotEmpty(t, rows)
			require.Equal(t, string(letter), m[1], "the clauses of %s", rows[len(rows)-1])
			clauses = append(clauses, clause{rows[len(rows)-1], m[1], m[2], m[3], m[4]})
			letter++
			continue
		}
		letter = 'a'
		name, what, _ := strings.Cut(lines.Text(), " ")
		if name == "" || name == "#" {
			continue
		}
		if !rowProved.MatchString(name) {
			require.Regexp(t, rowName, name)
		}
		what, proofs[name], _ = strings.Cut(what, " | ")
		require.NotEmpty(t, what, name)
		require.NotContains(t, rows, name)
		rows = append(rows, name)
	}
	require.NotEmpty(t, rows)
	return rows, proofs, clauses
}

// assertions are the texts of a file's assertions, by its name, as far as it was read.
type assertions map[string][]string

// hold returns nil if one of the assertions of a file has the text in it.
func (a assertions) hold(file, text string) error {
	if _, read := a[file]; !read {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if a[file], err = assertionsOf(file, data); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(a[file], func(of string) bool { return strings.Contains(of, text) }) {
		return fmt.Errorf("%s: no assertion has %q in it", file, text)
	}
	return nil
}

// assertionsOf are the calls of require and assert in a file of Go, and of the helpers that
// are called refused, and the lines of a command session that fail where something is not as
// they say.
func assertionsOf(file string, data []byte) (list []string, err error) {
	if strings.HasSuffix(file, ".txtar") {
		commands, _, _ := strings.Cut(string(data), "\n-- ")
		for line := range strings.Lines(commands) {
			words := strings.Fields(strings.TrimPrefix(line, "! "))
			if len(words) > 1 && slices.Contains([]string{"exec", "stdout", "stderr", "exists", "cmp", "cmpenv", "grep"}, words[0]) {
				list = append(list, strings.TrimSuffix(line, "\n"))
			}
		}
		return list, nil
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, data, 0)
	if err != nil {
		return nil, err
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && asserts(call.Fun) {
			list = append(list, string(data[set.Position(call.Pos()).Offset:set.Position(call.End()).Offset]))
		}
		return true
	})
	return list, nil
}

func asserts(called ast.Expr) bool {
	switch f := called.(type) {
	case *ast.Ident:
		return f.Name == "refused"
	case *ast.SelectorExpr:
		x, ok := f.X.(*ast.Ident)
		return f.Sel.Name == "refused" || ok && (x.Name == "require" || x.Name == "assert")
	}
	return false
}

// What is said beside an assertion is none.
func TestAssertionsOf(t *testing.T) {
	list, err := assertionsOf("a_test.go", []byte("package a\n// require.Zero(x)\nfunc f() { s := `require.Zero(y)`; g(h); require.Equal(t,\n\t1, z); _ = s }\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"require.Equal(t,\n\t1, z)"}, list)
	list, err = assertionsOf("a.txtar", []byte("# stdout x\nenv A=stdout\nexec a\n! stdout 'b c'\nwait b\n-- f --\nstdout y\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"exec a", "! stdout 'b c'"}, list)
}

// rowProved are the rows that name their tests: "package TestA TestB; package TestC".
var rowProved = regexp.MustCompile(`^[GFO](0[1-9]|1[01])$`)

// proofsOf are the tests that a row names, each of which there has to be.
func proofsOf(t *testing.T, top, proofs string) (tests []string) {
	t.Helper()
	for proof := range strings.SplitSeq(proofs, ";") {
		words := strings.Fields(proof)
		if len(words) == 0 {
			continue
		}
		files, err := filepath.Glob(filepath.Join(top, words[0], "*_test.go"))
		require.NoError(t, err)
		var text []byte
		for _, file := range files {
			more, err := os.ReadFile(file)
			require.NoError(t, err)
			text = append(text, more...)
		}
		for _, test := range words[1:] {
			assert.Contains(t, string(text), "\nfunc "+test+"(", "package %s", words[0])
			tests = append(tests, words[0]+" "+test)
		}
	}
	return tests
}

// attacksOf are the attacks in testdata that are about a row.
func attacksOf(t *testing.T, row string) (attacks []string) {
	t.Helper()
	for _, file := range []string{"operator.txt", "answers.txt"} {
		text, err := os.ReadFile("../testdata/" + file)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if fields := strings.Split(line, "\t"); len(fields) == 3 && fields[1] == row {
				attacks = append(attacks, file+" "+fields[0])
			}
		}
	}
	rows, err := cases.Load(corpusDir)
	require.NoError(t, err)
	for _, c := range rows {
		if c.ID == row {
			attacks = append(attacks, "cases "+row)
		}
	}
	return attacks
}

// citing are the directories whose tests are about permissions. The attacks of
// testdata/cases have rows of their own, some by the same names (W10), which
// the tests of the other packages cite.
// Of package sandboxfs the rows of delegation alone are cited here: no attack
// begins with a D.
var citing = []string{"permission", "cmd/pinfold", "fileskills", "integration", "broker", "sandboxfs"}

var (
	rowName = regexp.MustCompile(`^[MWTPXAD][1-9][0-9]?$`)
	// citation is a row or a range of rows: T11, T11-T15.
	citation = regexp.MustCompile(`\b([MWTPXAD])([1-9][0-9]?)(?:-([MWTPXAD])([1-9][0-9]?))?\b`)
)

// citations are the tests by the rows that they cite: in comments and messages
// of Go, and in the comments of command sessions.
func citations(t *testing.T, top string) map[string][]string {
	cited := map[string][]string{}
	add := func(where, text string) {
		for _, m := range citation.FindAllStringSubmatch(text, -1) {
			first, _ := strconv.Atoi(m[2])
			last := first
			if m[3] == m[1] {
				last, _ = strconv.Atoi(m[4])
			}
			for n := first; n <= last; n++ {
				row := fmt.Sprintf("%s%d", m[1], n)
				if m[1] != "D" && strings.HasPrefix(where, "sandboxfs/") {
					continue
				}
				if !slices.Contains(cited[row], where) {
					cited[row] = append(cited[row], where)
				}
			}
		}
	}
	for _, dir := range citing {
		err := filepath.WalkDir(filepath.Join(top, dir), func(path string, d fs.DirEntry, err error) error {
			where, _ := filepath.Rel(top, path)
			switch {
			case os.IsNotExist(err): // a package that is not there yet
				return nil
			case err != nil:
				return err
			case slices.Contains([]string{"fileskills/write_file_test.go", "integration/rows_test.go"}, where):
				return nil // the one cites W17 of the attacks, the other examples
			case strings.HasSuffix(path, "_test.go"):
				return citedInGo(path, where, add)
			case strings.HasSuffix(path, ".txtar"):
				return citedInSession(path, where, add)
			}
			return nil
		})
		require.NoError(t, err)
	}
	return cited
}

// citedInGo adds what the tests of a file cite: in their comments, and in the
// messages of their assertions.
func citedInGo(path, where string, add func(where, text string)) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	tests := map[string]*ast.FuncDecl{}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
			tests[f.Name.Name] = f
		}
	}
	for name, f := range tests {
		from, to := f.Pos(), f.End()
		if f.Doc != nil {
			from = f.Doc.Pos()
		}
		for _, group := range file.Comments {
			if group.Pos() >= from && group.End() <= to {
				add(where+" "+name, group.Text())
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				add(where+" "+name, messageOf(lit))
			}
			return true
		})
	}
	return nil
}

// messageOf is a literal that says "M11: ...", as assertions do, and "" for
// another one: a string in a test may hold anything.
func messageOf(lit *ast.BasicLit) string {
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	row, _, found := strings.Cut(text, ": ")
	if !found || !rowName.MatchString(row) {
		return ""
	}
	return row
}

// citedInSession adds what the comments of a command session cite.
func citedInSession(path, where string, add func(where, text string)) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "-- ") {
			break // its files begin
		}
		if strings.HasPrefix(line, "#") {
			add(where, line)
		}
	}
	return nil
}
