package permission

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the schema and the built-in documents")

const schemaFile = "../docs/schema/policy.schema.json"

// The schema that is shipped is the one that the code makes.
func TestSchemaIsShipped(t *testing.T) {
	if *update {
		require.NoError(t, os.WriteFile(schemaFile, Schema(), 0o644))
	}
	data, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	require.Equal(t, string(Schema()), string(data), "go test ./permission -run Schema -update writes it")
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource(schemaID, v))
	s, err := c.Compile(schemaID)
	require.NoError(t, err)
	return s
}

func fits(t require.TestingT, s *jsonschema.Schema, document []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	require.NoError(t, err)
	return s.Validate(v)
}

// Whatever decodes fits the schema.
func TestSchemaTakesWhatIsValid(t *testing.T) {
	s := compiledSchema(t)
	require.NoError(t, fits(t, s, encodeJSON(decode(t, example).Document)))
	for _, name := range append(Builtins(), "agents") {
		data, err := BuiltinText(name)
		require.NoError(t, err)
		require.NoError(t, fits(t, s, encodeJSON(decode(t, string(data)).Document)), name)
	}
	rapid.Check(t, func(t *rapid.T) {
		doc := genDocument.Draw(t, "document")
		require.NoError(t, fits(t, s, encodeJSON(doc)), "%s", encodeJSON(doc))
	})
}

// What decoding refuses for its shape does not fit either.
func TestSchemaRefusesWhatIsNot(t *testing.T) {
	s := compiledSchema(t)
	for _, text := range []string{
		`{}`, `{"version": 2}`, `{"version": "1"}`, `{"version": 1, "x": 1}`, `{"version": 1, "fs": []}`,
		`{"version": 1, "fs": {"writ": []}}`, `{"version": 1, "fs": {"write": "a"}}`, `{"version": 1, "fs": {"write": null}}`,
		`{"version": 1, "network": "yes"}`, `{"version": 1, "bash_policy": "all"}`,
		`{"version": 1, "targets": {"msg.send": "everyone"}}`, `{"version": 1, "targets": {"msg.send": ["parent"]}}`,
		`{"version": 1, "targets": {"msg.sned": "parent"}}`, `{"version": 1, "cross_send": {"allowlist": []}}`,
		`{"version": 1, "tools": {"a": {"timeout": 0}}}`, `{"version": 1, "approvals": {"max_wait": 5}}`,
	} {
		require.Error(t, fits(t, s, []byte(text)), text)
		_, err := Decode("p.json", []byte(text))
		require.Error(t, err, text)
	}
}
