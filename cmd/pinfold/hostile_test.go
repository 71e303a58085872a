package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A name that a terminal would obey does not reach it in JSON either, and is the
// same name for who reads the JSON.
func TestJSONForTerminals(t *testing.T) {
	name := "src/\x1b[2J\u009b31m\x7f\u202e\U000e0041\u00e9<&日"
	for _, indent := range []string{"", "  "} {
		var b bytes.Buffer
		require.NoError(t, encodeJSON(&b, map[string]string{"resource": name}, indent))
		text := b.String()
		for _, c := range []string{"\x1b", "\u009b", "\x7f", "\u202e", "\U000e0041"} {
			require.NotContains(t, text, c)
		}
		require.Contains(t, text, "\u00e9<&日")
		var back map[string]string
		require.NoError(t, json.Unmarshal(b.Bytes(), &back))
		require.Equal(t, name, back["resource"])
	}
}

// A task of 64 KiB in a word that names it thousands of times would be gigabytes.
func TestCommandWithItsTask(t *testing.T) {
	got, err := withTask([]string{"sh", "-c", "echo {task}", "{task}{task}", "{tas"}, "a b")
	require.NoError(t, err)
	require.Equal(t, []string{"sh", "-c", "echo a b", "a ba b", "{tas"}, got)
	got, err = withTask([]string{"x", "{task}"}, "{task}{task}")
	require.NoError(t, err)
	require.Equal(t, []string{"x", "{task}{task}"}, got)
	task := strings.Repeat("A", 64<<10)
	for _, command := range [][]string{{strings.Repeat("{task}", 16_000)}, strings.Split(strings.Repeat("{task} ", 16_000), " ")} {
		_, err = withTask(command, task)
		require.ErrorContains(t, err, "more than 2097152 bytes")
	}
}
