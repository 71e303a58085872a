package permission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// M8: decode(encode(x)) is x for every field, in YAML and in JSON, and absent
// and empty lists stay apart. Another reader of YAML finds the same in it.
func TestRoundTrip(t *testing.T) {
	checks(t, func(t *rapid.T) {
		doc := genDocument.Draw(t, "document")
		text := Encode(doc)
		require.Equal(t, doc, decode(t, string(text)).Document, "%s", text)
		require.Equal(t, doc, decode(t, string(encodeJSON(doc))).Document)

		again, err := Format("p.yaml", text)
		require.NoError(t, err)
		require.Equal(t, string(text), string(again), "what is encoded is canonical")

		var other, fromJSON any
		require.NoError(t, yaml.Unmarshal(text, &other), "%s", text)
		require.NoError(t, json.Unmarshal(encodeJSON(doc), &fromJSON))
		a, err := json.Marshal(other)
		require.NoError(t, err)
		b, err := json.Marshal(fromJSON)
		require.NoError(t, err)
		require.JSONEq(t, string(b), string(a))
	})
}

// Any string comes back as it was.
func TestStringsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"yes", "No", "1", "1e3", "0x1f", "null", "~", "- a", "a: b", "a #b", "2001-01-01", "=", "<<", ".inf", "-", "?", "a ", " a", "\u2028", "\ufeff", "\u007f", "\U0001f600"})).Draw(t, "s")
		if s == "" || (&validator{ps: &problems{}, src: &Source{}}).plain("", s) == false {
			return
		}
		doc := Document{Version: 1, Description: s}
		require.Equal(t, s, decode(t, string(Encode(doc))).Document.Description, "%s", Encode(doc))
	})
}

func TestJSONWithinJSON(t *testing.T) {
	doc := decode(t, example).Document
	data, err := json.Marshal(map[string]any{"policy": doc})
	require.NoError(t, err)
	var back struct{ Policy Document }
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, doc, back.Policy)
	require.Error(t, json.Unmarshal([]byte(`{"policy": {"version": 1, "x": 1}}`), &back))
}

// Format keeps comments where they belong, sorts keys, and is idempotent.
func TestFormat(t *testing.T) {
	given := lines(
		"# what this is",
		"version: 1",
		"roles: {verify: VERIFICATION}   # see docs",
		"# about files",
		"fs:",
		"      hide: ['**/.env',",
		"         # keys",
		"         \"**/*.pem\"]",
		"      write:",
		"        - docs # all of it",
		"        # one file",
		"        - \"notes.md\"",
		"tools:",
		"  b: {}",
		"  # the first",
		"  a: {timeout: 5}",
		"# the end")
	want := lines(
		"# what this is",
		"version: 1",
		"# about files",
		"fs:",
		"  write:",
		"    - docs # all of it",
		"    # one file",
		"    - notes.md",
		"  hide:",
		"    - \"**/.env\"",
		"    # keys",
		"    - \"**/*.pem\"",
		"tools:",
		"  # the first",
		"  a: {enabled: true, timeout: 5}",
		"  b: {enabled: true}",
		"roles: {verify: VERIFICATION} # see docs",
		"# the end")
	once, err := Format("p.yaml", []byte(given))
	require.NoError(t, err)
	require.Equal(t, want, string(once))
	twice, err := Format("p.yaml", once)
	require.NoError(t, err)
	require.Equal(t, want, string(twice))
	require.Equal(t, decode(t, given).Document, decode(t, want).Document)

	_, err = Format("p.yaml", []byte("version: 2"))
	require.Error(t, err, "what is refused is not rewritten")
}

// The built-in documents are shipped in canonical form.
func TestBuiltinsAreFormatted(t *testing.T) {
	for _, name := range append(Builtins(), "agents") {
		data, err := BuiltinText(name)
		require.NoError(t, err)
		out, err := Format(name, data)
		require.NoError(t, err)
		if *update {
			require.NoError(t, os.WriteFile(filepath.Join("builtin", name+".yaml"), out, 0o644))
		}
		assert.Equal(t, string(out), string(data), name)
	}
}
