package skilltest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
)

// numbered are n lines, "line 1" to "line n".
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("line ")
		b.WriteString(strconv.Itoa(i + 1))
		b.WriteByte('\n')
	}
	return b.String()
}

var reading = []testCase{
	{
		name:  "read_file pages",
		files: map[string]string{"long": numbered(3000)},
		calls: []want{
			{skill: "read_file", in: args{"path": "long"}, text: []string{"line 2000\n", "[lines 1-2000 of 3000; continue with offset=2001]"}, not: []string{"line 2001\n"},
				meta: func(t *testing.T, m fileskills.Meta) {
					require.True(t, m.Truncated)
					require.Equal(t, 2001, *m.NextOffset)
					require.Equal(t, 3000, *m.Total)
				}},
			{skill: "read_file", in: args{"path": "long", "offset": 2001}, text: []string{"line 2001\n", "line 3000"}, not: []string{"line 2000\n"}},
			{skill: "read_file", in: args{"path": "long", "offset": 10, "limit": 2, "line_numbers": false}, text: []string{"line 10\nline 11\n"}, not: []string{"line 9", "line 12"}},
		},
	},
	{
		name:  "read_file refuses what is no text (T02)",
		files: map[string]string{"bin": "a\x00b", "dir/f": ""},
		calls: []want{
			{skill: "read_file", in: args{"path": "bin"}, code: fileskills.CodeBinaryFile},
			{skill: "read_file", in: args{"path": "dir"}, code: fileskills.CodeIsDirectory},
			{skill: "read_file", in: args{"path": "ok.txt/x"}, code: fileskills.CodeNotDirectory},
		},
	},
	{
		name:  "what is missing is named, with what is like it",
		files: map[string]string{"config.yaml": "a: 1\n"},
		calls: []want{
			{skill: "read_file", in: args{"path": "config.yml"}, code: fileskills.CodeNotFound, text: []string{"config.yml does not exist", "Did you mean config.yaml?"}},
		},
	},
	{
		name:  "file_info and list_directory",
		files: map[string]string{"d/a": "1", "d/b": "22", "d/c/": ""},
		calls: []want{
			{skill: "file_info", in: args{"path": "d/b"}, meta: func(t *testing.T, m fileskills.Meta) { require.EqualValues(t, 2, *m.Bytes) }},
			{skill: "list_directory", in: args{"path": "d"}, text: []string{"a", "b", "c/"}},
			{skill: "list_directory", in: args{"path": "ok.txt"}, code: fileskills.CodeNotDirectory},
			{skill: "list_directory", in: args{"path": "none"}, code: fileskills.CodeNotFound},
		},
	},
}

var searching = []testCase{
	{
		name:  "glob",
		files: map[string]string{"src/a.go": "", "src/b/c.go": "", "src/d.txt": "", "ignored.go": "", ".gitignore": "ignored.go\n"},
		calls: []want{
			{skill: "glob", in: args{"pattern": "**/*.go"}, text: []string{"src/a.go", "src/b/c.go"}, not: []string{"\nignored.go", "d.txt"}},
			{skill: "glob", in: args{"pattern": "**/*.go", "include_ignored": true}, text: []string{"ignored.go"}},
			{skill: "glob", in: args{"pattern": "*.go", "path": "src"}, text: []string{"a.go"}, not: []string{"c.go"}},
			{skill: "glob", in: args{"pattern": "[", "path": "src"}, code: fileskills.CodeInvalidArgument},
		},
	},
	{
		name:  "grep says what it did not search",
		files: map[string]string{"src/a.go": "needle one\nother\nneedle two\n", "ignored/b": "needle\n", ".gitignore": "ignored/\n", "bin": "needle\x00"},
		calls: []want{
			{skill: "grep", in: args{"pattern": "needle"}, text: []string{"src/a.go", "needle one", "needle two"}, not: []string{"ignored/b:"}},
			{skill: "grep", in: args{"pattern": "needle", "path": "ignored/b"}, text: []string{"needle"}},
			{skill: "grep", in: args{"pattern": "NEEDLE t", "ignore_case": true, "output": "files"}, text: []string{"src/a.go"}},
			{skill: "grep", in: args{"pattern": "nowhere"}, text: []string{"0 matches", "include_ignored=true"}},
			{skill: "grep", in: args{"pattern": "a.*+", "literal": true}, text: []string{"0 matches"}},
			{skill: "grep", in: args{"pattern": "("}, code: fileskills.CodeInvalidRegex},
			{skill: "grep", in: args{"pattern": "(?=x)"}, code: fileskills.CodeInvalidRegex},
			{skill: "search_text", in: args{"pattern": "needle one"}, text: []string{"src/a.go"}},
		},
	},
}
