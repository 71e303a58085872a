package clitest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// Hostile is a name that must come out of every format as text.
const Hostile = "a\n\x1b[31m\xff\u202e\"<&>%"

// Schema is a JSON Schema in a file.
func Schema(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(file)
	require.NoError(t, err)
	return s
}

// Validate holds a JSON document to a schema.
func Validate(t *testing.T, s *jsonschema.Schema, document string) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	require.NoError(t, err)
	require.NoError(t, s.Validate(v), "%s", document)
}

// AnswersRow prints what became of an attack of testdata/answers.txt on a surface,
// once its control was seen.
func AnswersRow(t *testing.T, file, key, surface, saw string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); fields[0] == key {
			fmt.Printf("[table] %s %-12s the attack %s: refused; without the guard: done (%s, uid %d)\n", fields[1], surface, fields[2], saw, os.Getuid())
			return
		}
	}
	require.FailNow(t, "no such row", key)
}
