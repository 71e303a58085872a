package skilltest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
)

var editing = []testCase{
	{
		name:  "edit_file changes one place, and says when there are more or none",
		write: []string{"out"},
		files: map[string]string{"out/f": "a\nb\na\n", "out/g": "\tfoo(bar)\n"},
		calls: []want{
			{skill: "edit_file", in: args{"path": "out/f", "old_string": "a", "new_string": "x"}, code: fileskills.CodeMultipleMatches, text: []string{"2 places", "lines 1, 3", "Nothing was changed"}},
			{skill: "edit_file", in: args{"path": "out/f", "old_string": "b", "new_string": "b"}, code: fileskills.CodeNoChange},
			{skill: "edit_file", in: args{"path": "out/g", "old_string": "  foo(bar)", "new_string": "x"}, code: fileskills.CodeNoMatch, text: []string{"foo(bar)"}},
			{skill: "edit_file", in: args{"path": "out/f", "old_string": "b", "new_string": "x", "dry_run": true}, text: []string{"Nothing was written"}},
			{skill: "edit_file", in: args{"path": "out/f", "old_string": "a", "new_string": "A", "replace_all": true},
				meta: func(t *testing.T, m fileskills.Meta) { require.Equal(t, 2, *m.Replacements) }},
			{skill: "edit_file", in: args{"path": "out/none", "old_string": "a", "new_string": "b"}, code: fileskills.CodeNotFound},
		},
		after: map[string]string{"out/f": "A\nb\nA\n", "out/g": "\tfoo(bar)\n"},
	},
	{
		name:  "an edit leaves every other byte alone",
		write: []string{"out"},
		files: map[string]string{"out/crlf": "\xef\xbb\xbfone\r\ntwo\r\nthree\n", "out/latin": "caf\xe9 one\n"},
		calls: []want{
			{skill: "edit_file", in: args{"path": "out/crlf", "old_string": "two", "new_string": "2\n2b"}},
			{skill: "edit_file", in: args{"path": "out/latin", "old_string": "one", "new_string": "two"}, code: fileskills.CodeInvalidEncoding},
		},
		after: map[string]string{"out/crlf": "\xef\xbb\xbfone\r\n2\r\n2b\r\nthree\n", "out/latin": "caf\xe9 one\n"},
	},
	{
		name:  "edit_file_batch is all or nothing, against the original",
		write: []string{"out"},
		files: map[string]string{"out/f": "one two three\n"},
		calls: []want{
			{skill: "edit_file_batch", in: args{"path": "out/f", "edits": []args{{"old_string": "one", "new_string": "1"}, {"old_string": "four", "new_string": "4"}}}, code: fileskills.CodeNoMatch},
			{skill: "edit_file_batch", in: args{"path": "out/f", "edits": []args{{"old_string": "one two", "new_string": "1"}, {"old_string": "two three", "new_string": "2"}}}, code: fileskills.CodeOverlappingEdits},
			{skill: "edit_file_batch", in: args{"path": "out/f", "edits": []args{{"old_string": "one", "new_string": "two"}, {"old_string": "two", "new_string": "one"}}}},
		},
		after: map[string]string{"out/f": "two one three\n"},
	},
	{
		name:  "regex_replace",
		write: []string{"out"},
		files: map[string]string{"out/f": "a1 b2 c3\n", "out/evil": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n"},
		calls: []want{
			{skill: "regex_replace", in: args{"path": "out/f", "pattern": `(?P<l>[a-z])(\d)`, "replacement": `\2\g<l>`, "count": 2}},
			{skill: "regex_replace", in: args{"path": "out/f", "pattern": `x(?=y)`, "replacement": ``}, code: fileskills.CodeInvalidRegex, text: []string{"look"}},
			{skill: "regex_replace", in: args{"path": "out/evil", "pattern": `(a+)+$`, "replacement": `x`}, code: fileskills.CodeNoMatch}, // ends at once
		},
		after: map[string]string{"out/f": "1a 2b c3\n"},
	},
}
