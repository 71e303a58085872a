package skilltest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
)

// testCase is a world, calls in it, and what they must give.
type testCase struct {
	name  string // what is proved, with the rows of the requirements
	write []string
	files map[string]string
	calls []want
	after map[string]string // content at the end; absent is "-"
}

// want is one call and its outcome.
type want struct {
	skill string
	in    args
	raw   string // instead of in

	code fileskills.Code // of the refusal; "" is success
	text []string        // what the text, or message and hint, hold
	not  []string        // what they do not hold
	meta func(t *testing.T, m fileskills.Meta)
}

type args map[string]any

// absent is content of a file that is not there.
const absent = "-"

// Run holds a surface to the contract.
func Run(t *testing.T, start Starter) {
	for _, list := range [][]testCase{rules, reading, searching, writing, editing, arguments} {
		for _, c := range list {
			t.Run(c.name, func(t *testing.T) { c.run(t, start) })
		}
	}
	t.Run("what is offered (W4, W5)", func(t *testing.T) { offered(t, start) })
	t.Run("a call that is cancelled changes nothing", func(t *testing.T) { cancelled(t, start) })
	t.Run("twenty edits at once (T03)", func(t *testing.T) { parallel(t, start) })
}

func (c testCase) run(t *testing.T, start Starter) {
	files := map[string]string{"ok.txt": "ok\n", "out/": ""}
	for name, content := range c.files {
		files[name] = content
	}
	s := start(t, World{Files: files, WritePaths: c.write, Enable: optional})
	for i, w := range c.calls {
		w.check(t, s, i)
	}
	for place, content := range c.after {
		got, exists := s.File(place)
		if content == absent {
			require.False(t, exists, "%s exists: %q", place, got)
			continue
		}
		require.True(t, exists, "%s does not exist", place)
		require.Equal(t, content, got, place)
	}
}

// optional are the skills that are off unless enabled and need nothing else.
var optional = []string{"delete_file"}

func (w want) input(t *testing.T) json.RawMessage {
	if w.raw != "" {
		return json.RawMessage(w.raw)
	}
	input, err := json.Marshal(w.in)
	require.NoError(t, err)
	return input
}

func (w want) check(t *testing.T, s Surface, i int) {
	t.Helper()
	res, err := s.Call(t.Context(), w.skill, w.input(t))
	var text string
	if w.code != "" {
		require.Error(t, err, "call %d: %s worked: %+v", i, w.skill, res)
		e := asError(t, err)
		require.Equal(t, w.code, e.Code, "call %d: %s: %v", i, w.skill, e)
		text = e.Error()
	} else {
		require.NoError(t, err, "call %d: %s", i, w.skill)
		text = res.Text
		if w.meta != nil {
			w.meta(t, res.Meta)
		}
	}
	for _, part := range w.text {
		require.Contains(t, text, part, "call %d: %s", i, w.skill)
	}
	for _, part := range w.not {
		require.NotContains(t, text, part, "call %d: %s", i, w.skill)
	}
}

// asError wants every failure to be an *Error with a message.
func asError(t *testing.T, err error) *fileskills.Error {
	t.Helper()
	var e *fileskills.Error
	require.True(t, errors.As(err, &e), "%T: %v", err, err)
	require.NotEmpty(t, e.Message)
	return e
}

// offered holds the list to the policy.
func offered(t *testing.T, start Starter) {
	reads := []string{"read_file", "list_directory", "glob", "grep", "file_info"}
	writes := []string{
		"write_file", "edit_file", "edit_file_batch", "append_file",
		"regex_replace", "mkdir", "copy_file", "rename",
	}
	require.ElementsMatch(t, reads, start(t, World{}).Skills())
	w := World{WritePaths: []string{"out"}, Files: map[string]string{"out/": ""}}
	require.ElementsMatch(t, append(reads, writes...), start(t, w).Skills())
	w.Enable = optional
	require.ElementsMatch(t, append(append(reads, writes...), optional...), start(t, w).Skills())
}

func cancelled(t *testing.T, start Starter) {
	s := start(t, World{WritePaths: []string{"out"}, Files: map[string]string{"out/f": "old\n"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Call(ctx, "write_file", json.RawMessage(`{"path":"out/f","content":"new\n"}`))
	require.Error(t, err)
	got, _ := s.File("out/f")
	require.Equal(t, "old\n", got)
	_, err = s.Call(t.Context(), "write_file", json.RawMessage(`{"path":"out/f","content":"new\n"}`))
	require.NoError(t, err)
	got, _ = s.File("out/f")
	require.Equal(t, "new\n", got)
}
