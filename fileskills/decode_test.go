package fileskills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDecode: T04. Nothing is written, the answer says what is wrong, and the
// same call spelled right succeeds.
func TestDecode(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ input, message, hint string }{
		{`{"path":"out/a"}`, `write_file: the argument "content" is missing`, "Arguments of write_file: path, content, overwrite?"},
		{`{}`, `the argument "path" is missing`, ""},
		{``, `the argument "path" is missing`, ""},
		{`null`, `the argument "path" is missing`, ""},
		{`{"path":"out/a","content":"x","overwite":true}`, `write_file has no argument "overwite"`, `Did you mean "overwrite"?`},
		{`{"Path":"out/a","content":"x"}`, `write_file has no argument "Path"`, `Did you mean "path"?`},
		{`{"path":"out/a","content":"x","zzz":1}`, `write_file has no argument "zzz"`, "Arguments"},
		{`{"path":1,"content":"x"}`, `write_file: "path" must be a string, not a number`, ""},
		{`{"path":null,"content":"x"}`, `"path" must be a string, not null`, ""},
		{`{"path":["out/a"],"content":"x"}`, `"path" must be a string, not a list`, ""},
		{`{"path":"out/a","content":{"a":"x"}}`, `"content" must be a string, not an object`, ""},
		{`{"path":"out/a","content":"x","overwrite":"yes"}`, `"overwrite" must be true or false, not a string`, ""},
		{`{"path":"out/a","content":"x","overwrite":1}`, `"overwrite" must be true or false, not a number`, ""},
		{`{"path":"out/a","content":"x","content":"y"}`, `write_file: the argument "content" is given twice`, ""},
		{`{"path":"out/a","content":"x","p\u0061th":"y"}`, `write_file: the argument "path" is given twice`, ""},
		{`{"path":"out/a","content":"` + "\xff" + `"}`, `not valid JSON: invalid UTF-8`, ""},
		{`{"path":"out/a","content":"\ud800"}`, `not valid JSON`, ""},
		{`{"path":"out/a","content":"x"} {}`, `more after the end`, ""},
		{`{"path":"out/a","content":"x"`, `not valid JSON`, ""},
		{`{"path":"out/a",'content':"x"}`, `not valid JSON`, ""},
		{`["out/a","x"]`, `must be a JSON object, not a list`, ""},
		{`"out/a"`, `must be a JSON object, not a string`, ""},
		{strings.Repeat(`{"path":`, 100_000), `"path" must be a string, not an object`, ""},
		{strings.Repeat(`[`, 1_000_000), `must be a JSON object, not a list`, ""},
	} {
		t.Run(clip(c.input, 50), func(t *testing.T) {
			_, err := w.set.Call(context.Background(), "write_file", json.RawMessage(c.input))
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, CodeInvalidArgument, e.Code)
			require.Contains(t, e.Message, c.message)
			require.Contains(t, e.Hint, c.hint)
			require.NotEmpty(t, e.Hint)
			require.Less(t, len(e.Error()), 1000)
			require.Empty(t, w.names("out"))
		})
	}
	w.ok("write_file", args{"path": "out/a", "content": "x"})
	require.Equal(t, "x", w.read("out/a"))
}

// TestAbsent: null and "" mean absent for an optional argument, and the
// default holds.
func TestAbsent(t *testing.T) {
	w := newWorld(t)
	w.write("out/a", "old")
	for _, absent := range []string{`null`, `""`} {
		input := fmt.Sprintf(`{"path":"out/a","content":%q,"overwrite":%s,"dry_run":%[2]s,"expected_hash":%[2]s}`, absent, absent)
		_, err := w.set.Call(context.Background(), "write_file", json.RawMessage(input))
		require.NoError(t, err)
		require.Equal(t, absent, w.read("out/a"))
	}
}

// TestLargeArguments: T04. 10 MiB of content is content; 10 MiB of path is a
// refusal that does not repeat it all.
func TestLargeArguments(t *testing.T) {
	w := newWorld(t)
	big := strings.Repeat("x", 10<<20)
	w.ok("write_file", args{"path": "out/big", "content": big})
	require.Len(t, w.read("out/big"), len(big))
	e := w.refused(CodeInvalidArgument, "write_file", args{"path": big, "content": "x"})
	require.Less(t, len(e.Error())+len(e.Path), 10_000)
	e = w.refused(CodeInvalidArgument, "write_file", args{big: big})
	require.Less(t, len(e.Error()), 1000)
	_, err := w.set.Call(context.Background(), big, nil)
	require.ErrorContains(t, err, "there is no skill")
	require.Less(t, len(err.Error()), 1000)
	input := json.RawMessage(`{"path":"out/big","content":"` + strings.Repeat("x", maxInput) + `"}`)
	_, err = w.set.Call(context.Background(), "write_file", input)
	var e2 *Error
	require.True(t, errors.As(err, &e2) && e2.Code == CodeTooLarge, "%v", err)
}

// TestBounds: numbers and words out of bounds are refused.
func TestBounds(t *testing.T) {
	type in struct {
		N     int    `json:"n,omitzero" default:"3" min:"1" max:"5"`
		Word  string `json:"word,omitzero" default:"a" enum:"a,b"`
		Maybe *int   `json:"maybe,omitzero"`
		List  []struct {
			From readPath `json:"from"`
		} `json:"list,omitzero"`
	}
	k := define(spec[in]{name: "probe"})
	var got in
	require.NoError(t, k.decode(json.RawMessage(`{}`), &got))
	require.Equal(t, in{N: 3, Word: "a"}, got)
	require.NoError(t, k.decode(json.RawMessage(`{"n":5,"word":"b","maybe":0,"list":[{"from":"x"}]}`), &got))
	require.Equal(t, 5, got.N)
	require.Equal(t, 0, *got.Maybe)
	for _, same := range []string{"4.0", "4e0", "0.4e1", "40E-1"} { // JSON has one kind of number
		require.NoError(t, k.decode(json.RawMessage(`{"n":`+same+`}`), &got), same)
		require.Equal(t, 4, got.N, same)
	}
	for input, want := range map[string]string{
		`{"n":0}`:                       `"n" must be from 1 to 5, not 0`,
		`{"n":6}`:                       `"n" must be from 1 to 5, not 6`,
		`{"n":1.5}`:                     `"n" must be a whole number, not 1.5`,
		`{"n":6.0}`:                     `"n" must be from 1 to 5, not 6`,
		`{"maybe":1e300}`:               `"maybe" must be a whole number, not 1e300`,
		`{"maybe":9007199254740993.0}`:  `"maybe" must be a whole number`,
		`{"n":99999999999999999999}`:    `"n" must be a whole number`,
		`{"word":"c"}`:                  `"word" must be "a" or "b", not "c"`,
		`{"list":[{}]}`:                 `the argument "list[0].from" is missing`,
		`{"list":[{"from":"x","y":1}]}`: `no argument "list[0].y"`,
		`{"list":[{"from":"x"},3]}`:     `"list[1]" must be an object, not a number`,
	} {
		require.ErrorContains(t, k.decode(json.RawMessage(input), &got), want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"path":"out/a","content":"x"}`))
	f.Add([]byte(`{"path":"out/a","content":"\ud800","overwrite":null}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, k := range all {
			in := k.new()
			err := k.decode(input, in)
			var e *Error
			if err != nil && !errors.As(err, &e) {
				t.Fatalf("%s: %T", k.name, err)
			}
		}
	})
}
