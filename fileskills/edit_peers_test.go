package fileskills

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// plainEdit is the edit that one writes first, and that many file tools have:
// the tests below show what each line of it gets wrong.
func plainEdit(path, old, new string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(string(raw), "\r\n", "\n") // "normalise"
	text = strings.ToValidUTF8(text, "\ufffd")            // as a decoder without strictness does
	if !strings.Contains(text, old) {
		return fmt.Errorf("old_string not found")
	}
	text = strings.Replace(text, old, new, 1) // the first one
	temp := path + ".tmp"
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// editBoth makes the same edit by plainEdit on one copy of a file and by
// edit_file on another, and returns what became of both.
func editBoth(t *testing.T, file, old, new string, mode os.FileMode) (plain, ours string, w *world, err error) {
	w = newWorld(t)
	w.write("plain", file)
	w.write("out/ours", file)
	require.NoError(t, os.Chmod(w.path("plain"), mode))
	require.NoError(t, os.Chmod(w.path("out/ours"), mode))
	require.NoError(t, plainEdit(w.path("plain"), old, new))
	_, err = w.call("edit_file", args{"path": "out/ours", "old_string": old, "new_string": new})
	return w.read("plain"), w.read("out/ours"), w, err
}

// Whole file CRLF to LF.
func TestPeersLineEndings(t *testing.T) {
	plain, ours, _, err := editBoth(t, "a\r\nb\r\nc\nd\r\n", "b", "x\ny", 0o644)
	require.NoError(t, err)
	require.Equal(t, "a\nx\ny\nc\nd\n", plain)
	require.Equal(t, "a\r\nx\r\ny\r\nc\nd\r\n", ours)
}

// The first match edited when there are several.
func TestPeersAmbiguous(t *testing.T) {
	plain, ours, _, err := editBoth(t, "x\ny\nx\n", "x", "z", 0o644)
	require.Equal(t, "z\ny\nx\n", plain)
	require.ErrorContains(t, err, "lines 1, 3")
	require.Equal(t, "x\ny\nx\n", ours)
}

// The first place patched when the context fits several.
func TestPeersAmbiguousPatch(t *testing.T) {
	const file = "def f():\n    return 1\n\ndef g():\n    return 1\n"
	plain := strings.Replace(file, "    return 1\n", "    return 2\n", 1) // seek from the top, take the first
	require.Equal(t, "def f():\n    return 2\n\ndef g():\n    return 1\n", plain)

	w := newWorld(t, withPatch(t))
	w.write("out/f.py", file)
	e := w.refused(CodeMultipleMatches, "apply_patch", patchOf("*** Update File: out/f.py", "@@", "-    return 1", "+    return 2"))
	require.Contains(t, e.Message, "matches 2 places (lines 2, 5) of out/f.py. Nothing was changed.")
	require.Equal(t, file, w.read("out/f.py"))
	w.ok("apply_patch", patchOf("*** Update File: out/f.py", "@@ def g():", "-    return 1", "+    return 2"))
	require.Equal(t, "def f():\n    return 1\n\ndef g():\n    return 2\n", w.read("out/f.py"))
}

// U+FFFD written over bytes that were not understood.
func TestPeersForeignBytes(t *testing.T) {
	const file = "caf\xe9\nport = 1\n"
	plain, ours, _, err := editBoth(t, file, "port = 1", "port = 2", 0o644)
	require.Equal(t, "caf\ufffd\nport = 2\n", plain)
	require.ErrorContains(t, err, "not valid UTF-8 (0xE9 in line 1)")
	require.Equal(t, file, ours)
}

// The mode forced to 0644.
func TestPeersMode(t *testing.T) {
	_, _, w, err := editBoth(t, "#!/bin/sh\n", "sh", "bash", 0o750)
	require.NoError(t, err)
	for name, want := range map[string]os.FileMode{"plain": 0o644, "out/ours": 0o750} {
		info, err := os.Stat(w.path(name))
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), name)
	}
}

// No hint on a failed match.
func TestPeersHint(t *testing.T) {
	w := newWorld(t)
	w.write("out/f.go", "func f() {\n\treturn 1\n}\n")
	const old = "func f() {\n    return 1\n}"
	require.EqualError(t, plainEdit(w.path("out/f.go"), old, "x"), "old_string not found")
	e := w.refused(CodeNoMatch, "edit_file", args{"path": "out/f.go", "old_string": old, "new_string": "x"})
	require.Contains(t, e.Hint, "from line 1")
	require.Contains(t, e.Hint, "→return·1")
	require.Contains(t, e.Hint, "Line 2 differs in column 1: a tab, where a space was looked for")
}

// A regular expression that takes for ever. The backtracking matcher of the
// test needs more than a million steps for 24 letters; ours is linear.
func TestPeersCatastrophicRegex(t *testing.T) {
	steps := 0
	var backtrack func(s string) bool
	backtrack = func(s string) bool { // ^(a+)+$
		for n := 0; n < len(s) && s[n] == 'a'; n++ {
			if steps++; n+1 == len(s) || backtrack(s[n+1:]) {
				return true
			}
		}
		return false
	}
	require.False(t, backtrack(strings.Repeat("a", 24)+"!"))
	require.Greater(t, steps, 1_000_000)

	w := newWorld(t)
	w.write("out/f", strings.Repeat("a", 1<<20)+"!")
	e := w.refused(CodeNoMatch, "regex_replace", args{"path": "out/f", "pattern": "^(a+)+$", "replacement": "x"})
	require.Contains(t, e.Message, "matches nothing")
}

// Parallel edits that reported success and are lost (T03).
func TestPeersParallelEdits(t *testing.T) {
	const n = 20
	var file strings.Builder
	for i := range n {
		fmt.Fprintf(&file, "line %02d: old\n", i)
	}
	w := newWorld(t)
	w.write("out/f", file.String())
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() {
			_, errs[i] = w.call("edit_file", args{"path": "out/f", "old_string": fmt.Sprintf("line %02d: old", i), "new_string": fmt.Sprintf("line %02d: new", i)})
		})
	}
	all.Wait()
	lost := 0
	for i, err := range errs {
		if err == nil && !strings.Contains(w.read("out/f"), fmt.Sprintf("line %02d: new", i)) {
			lost++
		}
	}
	require.Zero(t, lost)
	require.Zero(t, strings.Count(w.read("out/f"), "old"), "%v", errs)

	// The plain one: all read before the first writes.
	w.write("f", file.String())
	var read, done sync.WaitGroup
	read.Add(n)
	for i := range n {
		done.Go(func() {
			raw, err := os.ReadFile(w.path("f"))
			require.NoError(t, err)
			read.Done()
			read.Wait()
			raw = bytes.Replace(raw, fmt.Appendf(nil, "line %02d: old", i), fmt.Appendf(nil, "line %02d: new", i), 1)
			require.NoError(t, os.WriteFile(w.path(fmt.Sprintf("f%d", i)), raw, 0o644))
			require.NoError(t, os.Rename(w.path(fmt.Sprintf("f%d", i)), w.path("f")))
		})
	}
	done.Wait()
	require.Equal(t, 1, strings.Count(w.read("f"), "new"))
}

// A file that somebody else changes between reading and commit (T03): where
// the edit still fits it is made in the new content, else it is stale.
func TestEditMeetsAChange(t *testing.T) {
	for _, c := range []struct{ name, theirs, want string }{
		{"elsewhere in the file", "one\ntwo\nTHREE\n", "1\ntwo\nTHREE\n"},
		{"at the same place", "ONE\ntwo\nthree\n", ""},
		{"so that it fits twice", "one\none\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake := &meddler{}
			w := newWorld(t, func(conf *Config) { fake.FS = Resolved(conf.Resolver); conf.FS, conf.Resolver = fake, nil })
			w.write("out/f", "one\ntwo\nthree\n")
			fake.before = func() { w.write("out/f", c.theirs) }
			in := args{"path": "out/f", "old_string": "one", "new_string": "1"}
			if c.want == "" {
				e := w.refused(CodeStaleFile, "edit_file", in)
				require.Contains(t, e.Message, "out/f changed since you read it (hash ")
				require.Equal(t, c.theirs, w.read("out/f"))
				return
			}
			w.ok("edit_file", in)
			require.Equal(t, c.want, w.read("out/f"))

			w.write("out/f", "one\ntwo\nthree\n")
			fake.done = false
			in["expected_hash"] = hashOf([]byte("one\ntwo\nthree\n"))
			w.refused(CodeStaleFile, "edit_file", in)
			require.Equal(t, c.theirs, w.read("out/f"))
		})
	}
}

// meddler is an FS in which somebody acts just before the first commit.
type meddler struct {
	FS
	before func()
	done   bool
}

func (m *meddler) Replace(unsafePath string, o ReplaceOptions) (Replacement, error) {
	rep, err := m.FS.Replace(unsafePath, o)
	return &meddled{rep, m}, err
}

type meddled struct {
	Replacement
	m *meddler
}

func (r *meddled) Commit(ctx context.Context, still func(File) error) error {
	if !r.m.done {
		r.m.done = true
		r.m.before()
	}
	return r.Replacement.Commit(ctx, still)
}

// Every skill that edits ends soon after it is cancelled, wherever it is, and
// nothing is half done.
func TestEditCancelled(t *testing.T) {
	const line = "some line of text, with ümläuts\r\n"
	file := strings.Repeat(line, cancelledBytes/len(line)) + "the end\r\n"
	for skill, in := range map[string]args{
		"edit_file":     {"path": "out/f", "old_string": "the end", "new_string": "an end"},
		"regex_replace": {"path": "out/f", "pattern": "[x]*the (end)", "replacement": `an \1`},
		"apply_patch":   patchOf("*** Update File: out/f", "@@", "-the end", "+an end", "*** Add File: out/new", "+x"),
	} {
		t.Run(skill, func(t *testing.T) {
			w := newWorld(t, withPatch(t))
			w.write("out/f", file)
			input, err := json.Marshal(in)
			require.NoError(t, err)
			var worst time.Duration
			cancelled := 0
			for after := 100 * time.Microsecond; ; after *= 2 {
				ctx, cancel := context.WithCancel(background)
				stopped := make(chan time.Time, 1)
				timer := time.AfterFunc(after, func() { stopped <- time.Now(); cancel() })
				_, err := w.set.Call(ctx, skill, input)
				timer.Stop()
				cancel()
				if err == nil {
					break // it was faster
				}
				worst = max(worst, time.Since(<-stopped))
				cancelled++
				var e *Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, CodeCancelled, e.Code, "%v", e)
				require.True(t, w.read("out/f") == file, "half done after %v", after)
				require.Equal(t, []string{"f"}, w.names("out"))
			}
			t.Logf("%d times cancelled, ended within %v", cancelled, worst)
			require.Positive(t, cancelled)
			require.Equal(t, "an end\r\n", w.read("out/f")[len(file)-len("the end\r\n"):])
		})
	}
}

// cancelledBytes is the size of the file in TestEditCancelled.
const cancelledBytes = 2 << 20
