package fileskills

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEditFile(t *testing.T) {
	w := newWorld(t)
	w.write("out/a.go", "package a\n\nfunc f() {\n\treturn 1\n}\n")
	require.NoError(t, os.Chmod(w.path("out/a.go"), 0o751))
	res := w.ok("edit_file", args{"path": "out/a.go", "old_string": "return 1", "new_string": "x := 2\n\treturn x"})
	require.Equal(t, "Edited out/a.go: 1 replacement, 2 lines added, 1 removed.", res.Text)
	require.Equal(t, "package a\n\nfunc f() {\n\tx := 2\n\treturn x\n}\n", w.read("out/a.go"))
	require.Equal(t, "--- a/out/a.go\n+++ b/out/a.go\n@@ -1,5 +1,6 @@\n package a\n \n func f() {\n-\treturn 1\n+\tx := 2\n+\treturn x\n }\n", res.Meta.Diff)
	require.Equal(t, hashOf([]byte(w.read("out/a.go"))), res.Meta.Hash)
	info, err := os.Stat(w.path("out/a.go"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o751), info.Mode().Perm())
	require.Equal(t, []string{"a.go"}, w.names("out"))
}

// What is refused leaves the file alone, and the same call without its fault
// is done.
func TestEditFileRefuses(t *testing.T) {
	const path = "out/f.txt"
	for _, c := range []struct {
		name, file string
		in, good   args
		code       Code
		text       string
	}{
		{"several", "a\nx\nb\nx\n", args{"old_string": "x", "new_string": "y"}, args{"old_string": "x\nb", "new_string": "y\nb"},
			CodeMultipleMatches, "old_string matches 2 places (lines 2, 4). Add surrounding lines or set replace_all=true. Nothing was changed."},
		{"several in a line", "b\nx\nx x\n", args{"old_string": "x", "new_string": "y"}, args{"old_string": "x x", "new_string": "y"},
			CodeMultipleMatches, "old_string matches 3 places (lines 2, 3)."},
		{"many in a line", "b\n" + strings.Repeat("x", 25) + "\n", args{"old_string": "x", "new_string": "y"}, args{"old_string": "b\nx", "new_string": "y"},
			CodeMultipleMatches, "old_string matches 25 places (line 2 and 15 more places)."},
		{"several that overlap", "aaa\n", args{"old_string": "aa", "new_string": "b"}, args{"old_string": "aaa", "new_string": "b"},
			CodeMultipleMatches, "old_string matches 2 places (line 1)."},
		{"none", "hello\n", args{"old_string": "nope", "new_string": "y"}, args{"old_string": "hello", "new_string": "y"},
			CodeNoMatch, "old_string was not found in out/f.txt. Nothing was changed.\nNothing in the file resembles it."},
		{"tabs for spaces", "if x {\n\treturn y\n}\n", args{"old_string": "    return y", "new_string": "z"}, args{"old_string": "\treturn y", "new_string": "z"},
			CodeNoMatch, "Nearest text, from line 2 (· is a space, → a tab):\n→return·y\nLine 2 differs in column 1: a tab, where a space was looked for; what was looked for is:\n····return·y"},
		{"quotes", "say ‘hello there’\n", args{"old_string": "say 'hello there'", "new_string": "z"}, args{"old_string": "say ‘hello there’", "new_string": "z"},
			CodeNoMatch, "Line 1 differs in column 5: '‘' (U+2018), where '\\'' was looked for"},
		{"line numbers", "one\ntwo\n", args{"old_string": "     1\tone\n     2\ttwo", "new_string": "z"}, args{"old_string": "one\ntwo", "new_string": "z"},
			CodeNoMatch, "old_string carries line numbers, which are not part of the file. Give the text without them. Without them it matches line 1."},
		{"last line feed", "one\ntwo", args{"old_string": "two\n", "new_string": "z"}, args{"old_string": "two", "new_string": "z"},
			CodeNoMatch, "The file ends with this text, but without the line feed"},
		{"same", "one\n", args{"old_string": "one", "new_string": "one"}, args{"old_string": "one", "new_string": "two"},
			CodeNoChange, "old_string and new_string are the same"},
		{"empty", "one\n", args{"old_string": "", "new_string": "one"}, args{"old_string": "one", "new_string": ""},
			CodeInvalidArgument, "old_string is empty"},
		{"binary", "one\x00two\n", args{"old_string": "one", "new_string": "x"}, nil,
			CodeBinaryFile, "out/f.txt is a binary file (NUL at byte 3). Nothing was changed."},
		{"latin 1", "caf\xe9\nx\n", args{"old_string": "x", "new_string": "y"}, nil,
			CodeInvalidEncoding, "out/f.txt is not valid UTF-8 (0xE9 in line 1). Nothing was changed."},
		{"half UTF-16", "\xff\xfea\x00b", args{"old_string": "a", "new_string": "y"}, nil,
			CodeInvalidEncoding, "is not valid UTF-16"},
		{"lone surrogate", "\xff\xfea\x00\x00\xd8b\x00", args{"old_string": "a", "new_string": "y"}, nil,
			CodeInvalidEncoding, "is not valid UTF-16 (0xD800 in line 1)"},
		{"stale", "one\n", args{"old_string": "one", "new_string": "two", "expected_hash": hashOf([]byte("other"))},
			args{"old_string": "one", "new_string": "two", "expected_hash": hashOf([]byte("one\n"))},
			CodeStaleFile, "out/f.txt changed since you read it (hash "},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(path, c.file)
			c.in["path"] = path
			e := w.refused(c.code, "edit_file", c.in)
			require.Contains(t, e.Error(), c.text)
			require.Equal(t, path, e.Path)
			require.Equal(t, c.file, w.read(path))
			if c.good != nil {
				c.good["path"] = path
				w.ok("edit_file", c.good)
				require.NotEqual(t, c.file, w.read(path))
			}
			require.Equal(t, []string{"f.txt"}, w.names("out"))
		})
	}
}

// The hint names what keeps the text from being found: neither a first or last line
// that begins or ends within one of the file hides it, nor how far down it is.
func TestEditFileNamesTheDifference(t *testing.T) {
	const f = "func one(a int) int {\n\tx := compute(a, 1)\n\treturn x\n}\n"
	var many, wanted strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "line %d of it\n", i)
		fmt.Fprintf(&wanted, "line %d of it\n", i+i/60*i/99*5) // the last is another
	}
	for _, c := range []struct{ name, file, old, text string }{
		{"behind a first line in part", f, "(a int) int {\n\tx := compute(a, 2)\n",
			"Line 2 differs in column 18: '1', where '2' was looked for; what was looked for is:\n→x·:=·compute(a,·2)"},
		{"before a last line in part", f, "\tx := compute(a, 2)\n\tret",
			"Line 2 differs in column 18: '1', where '2' was looked for"},
		{"in a first line in part", f, "one(a  int) int {\n\tx := compute(a, 1)\n",
			"Line 1 differs in column 12: 'i', where a space was looked for"},
		{"in a first line in part, from its start", f, "One(a int) int {\n\tx := compute(a, 1)\n",
			"Line 1 differs in column 6: 'o', where 'O' was looked for"},
		{"in a last line in part", f, "\tx := compute(a, 1)\n\treturn y",
			"Line 3 differs in column 9: 'x', where 'y' was looked for"},
		{"a last line that goes on", f, "\tx := compute(a, 1)\n\treturn\n",
			"Line 3 differs in column 8: it goes on with a space"},
		{"at the end of the file", f, "\treturn x\n}\n\n",
			"The file ends with line 4; what was looked for goes on with:\n"},
		{"far down in what was looked for", many.String(), wanted.String(),
			"Nearest text, from line 97 (· is a space, → a tab):\nline·96·of·it\nline·97·of·it\nline·98·of·it\nline·99·of·it\nLine 100 differs in column 6: '9', where '1' was looked for; what was looked for is:\nline·104·of·it"},
		{"far down in the file", strings.Repeat("nothing to see here, go on\n", 150_000) + f, "one(a int) int {\n\tx := compute(a, 2)\n",
			"from line 150001 (· is a space, → a tab):\nfunc·one(a·int)·int·{\n→x·:=·compute(a,·1)\nLine 150002 differs in column 18: '1', where '2'"},
		{"a word, far down in the file", strings.Repeat("nothing to see here, go on\n", 150_000) + f, "compuet",
			"in line 150002 from column 7 (· is a space, → a tab):\ncompute\nWhat was looked for is:\ncompuet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("out/f", c.file)
			e := w.refused(CodeNoMatch, "edit_file", args{"path": "out/f", "old_string": c.old, "new_string": "z"})
			require.Contains(t, e.Hint, c.text)
			require.Equal(t, c.file, w.read("out/f"))
		})
	}
	// Lines of a patch are whole ones: what is missing of one is the difference.
	w := newWorld(t, withPatch(t))
	w.write("out/f", f)
	e := w.refused(CodeNoMatch, "apply_patch", patchOf("*** Update File: out/f", "@@", " one(a int) int {", "-\tx := compute(a, 1)", "+y"))
	require.Contains(t, e.Hint, "Line 1 differs in column 1: 'f', where 'o' was looked for")
}

// Looking for what comes nearest ends with the call, however large the file is.
func TestNoMatchIsCancelled(t *testing.T) {
	text := mustText(t, strings.Repeat("nothing to see here, go on\n", 100_000))
	ctx, cancel := context.WithCancel(background)
	cancel()
	for _, old := range []string{"nothing", "nothing to see there, go on\nor here\n"} {
		require.ErrorIs(t, text.noMatch(ctx, old, "old_string", false), context.Canceled)
	}
}

func TestEditFileAsked(t *testing.T) {
	w := newWorld(t)
	w.write("out/f", "x x\nx\n")
	res := w.ok("edit_file", args{"path": "out/f", "old_string": "x", "new_string": "yy", "replace_all": true, "dry_run": true})
	require.Equal(t, "Would edit out/f: 3 replacements, 2 lines added, 2 removed. Nothing was written.", res.Text)
	require.Contains(t, res.Meta.Diff, "-x x\n-x\n+yy yy\n+yy\n")
	require.Equal(t, "x x\nx\n", w.read("out/f"))
	w.ok("edit_file", args{"path": "out/f", "old_string": "x", "new_string": "yy", "replace_all": true})
	require.Equal(t, "yy yy\nyy\n", w.read("out/f"))

	// W03: beside the write paths it may be read, not edited; a link is no way around (W06).
	e := w.refused(CodeWriteNotAllowed, "edit_file", args{"path": "ok.txt", "old_string": "ok", "new_string": "no"})
	require.Contains(t, e.Error(), "writable: out")
	require.NoError(t, os.Symlink("../ok.txt", w.path("out/link")))
	w.refused(CodeWriteNotAllowed, "edit_file", args{"path": "out/link", "old_string": "ok", "new_string": "no"})
	require.Equal(t, "ok\n", w.read("ok.txt"))

	big, err := os.Create(w.path("out/big"))
	require.NoError(t, err)
	require.NoError(t, big.Truncate(10<<30))
	require.NoError(t, big.Close())
	e = w.refused(CodeTooLarge, "edit_file", args{"path": "out/big", "old_string": "ok", "new_string": "no"})
	require.Contains(t, e.Message, "10737418240 bytes")
}

func TestEditFileBatch(t *testing.T) {
	w := newWorld(t)
	w.write("out/f", "one\ntwo\nthree\n")
	w.ok("edit_file_batch", args{"path": "out/f", "edits": []args{
		{"old_string": "three", "new_string": "two"}, // matched against the file as it is
		{"old_string": "two", "new_string": "three"},
	}})
	require.Equal(t, "one\nthree\ntwo\n", w.read("out/f"))

	e := w.refused(CodeOverlappingEdits, "edit_file_batch", args{"path": "out/f", "edits": []args{
		{"old_string": "three\ntwo", "new_string": "x"}, {"old_string": "one\nthree", "new_string": "y"},
	}})
	require.Contains(t, e.Message, "edits[1] and edits[0] change the same text (lines 1 and 2)")
	e = w.refused(CodeNoMatch, "edit_file_batch", args{"path": "out/f", "edits": []args{
		{"old_string": "one", "new_string": "x"}, {"old_string": "missing entirely", "new_string": "y"},
	}})
	require.Contains(t, e.Message, "edits[1].old_string was not found")
	require.Equal(t, "one\nthree\ntwo\n", w.read("out/f"))
	w.refused(CodeInvalidArgument, "edit_file_batch", args{"path": "out/f", "edits": []args{}})
}

func TestRegexReplace(t *testing.T) {
	for _, c := range []struct {
		name, file string
		in         args
		want       string
	}{
		{"groups", "k=v\n", args{"pattern": `(\w+)=(?P<val>\w+)`, "replacement": `\g<val>:\1:\g<0>`}, "v:k:k=v\n"},
		{"escapes", "a\n", args{"pattern": "a", "replacement": `\\\t.\.$1`}, "\\\t.\\.$1\n"},
		{"count", "x x x\n", args{"pattern": "x", "replacement": "y", "count": 2}, "y y x\n"},
		{"ignore case", "Ab\n", args{"pattern": "ab", "replacement": "y", "ignore_case": true}, "y\n"},
		{"multiline, CRLF", "a\r\nb\r\n", args{"pattern": "(?P<l>.)$", "replacement": `\g<l>;`, "multiline": true}, "a;\r\nb;\r\n"},
		{"dotall", "a\nb\n", args{"pattern": "a.b", "replacement": "y", "dotall": true}, "y\n"},
		{"empty matches", "ab", args{"pattern": "x*", "replacement": "-"}, "-a-b-"},
		{"boundaries behind a match", "foo foo\n", args{"pattern": `\bfoo\b ?`, "replacement": "y"}, "yy\n"},
		{"not at the start again", "aaa\n", args{"pattern": "^a", "replacement": ""}, "aa\n"},
		{"no part", "b\n", args{"pattern": "(a)?b", "replacement": `[\1]`}, "[]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("out/f", c.file)
			c.in["path"] = "out/f"
			w.ok("regex_replace", c.in)
			require.Equal(t, c.want, w.read("out/f"))
		})
	}
}

func TestRegexReplaceRefuses(t *testing.T) {
	w := newWorld(t)
	w.write("out/f", "foobar foo\n")
	for _, c := range []struct {
		in   args
		code Code
		text string
	}{
		{args{"pattern": "foo(?=bar)", "replacement": "x"}, CodeInvalidRegex, "There is no look-around"},
		{args{"pattern": "(?<!foo)bar", "replacement": "x"}, CodeInvalidRegex, "There is no look-around"},
		{args{"pattern": `(o)\1`, "replacement": "x"}, CodeInvalidRegex, "no back-references in a pattern"},
		{args{"pattern": "a++", "replacement": "x"}, CodeInvalidRegex, "possessive"},
		{args{"pattern": "(foo", "replacement": "x"}, CodeInvalidRegex, "missing closing )"},
		{args{"pattern": `foo)|(x`, "replacement": "x"}, CodeInvalidRegex, "unexpected )"},
		{args{"pattern": "((x{100}){10}y{1000}){1}(z{1000}){1}" + strings.Repeat("(w{1000})", 9), "replacement": "x"}, CodeInvalidRegex, "too large"},
		{args{"pattern": "foo", "replacement": `\1`}, CodeInvalidArgument, "the pattern has no groups"},
		{args{"pattern": "(foo)", "replacement": `\2`}, CodeInvalidArgument, "the pattern has groups 1 to 1"},
		{args{"pattern": "foo", "replacement": `\q`}, CodeInvalidArgument, `an escape \q`},
		{args{"pattern": "^bar", "replacement": "x"}, CodeNoMatch, "unless multiline=true"},
		{args{"pattern": "foo", "replacement": "foo"}, CodeNoChange, "already is as the change would leave it"},
	} {
		c.in["path"] = "out/f"
		require.Contains(t, w.refused(c.code, "regex_replace", c.in).Error(), c.text)
		require.Equal(t, "foobar foo\n", w.read("out/f"))
	}
	w.write("out/grow", strings.Repeat("x", 1<<20))
	e := w.refused(CodeTooLarge, "regex_replace", args{"path": "out/grow", "pattern": "x", "replacement": strings.Repeat("y", 100)})
	require.Contains(t, e.Message, "would become larger")
}
