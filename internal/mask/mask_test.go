package mask_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/pinfold-dev/pinfold/internal/mask"
)

var key = mask.Key{1, 2, 3}

// cases are a file of each format, whose secrets are S3cr3tValue and its like. visible
// has to stay.
var cases = map[string]struct {
	text    string
	visible []string
}{
	".env":               {"# S3cr3tComment\nexport API_KEY=S3cr3tValue # S3cr3tTail\nURL='S3cr3tQuoted'\nPEM=\"S3cr3tFirst\nS3cr3tSecond\\\"S3cr3tThird\"\nEMPTY=\n", []string{"export API_KEY=", "\nURL='", "'\nPEM=\"", "\"\nEMPTY=\n"}},
	".env.local":         {"A=S3cr3tValue\r\nB = S3cr3tOther\r\n", []string{"A=", "\r\nB = ", "\r\n"}},
	"prod.env":           {"A=S3cr3tValue", []string{"A="}},
	"app.ini":            {"; S3cr3tComment\n[db]\nuser = S3cr3tUser\npassword: \"S3cr3tValue\" \n  S3cr3tGoesOn = S3cr3t\n", []string{"[db]\nuser = ", "\npassword: \""}},
	"credentials":        {"[default]\naws_secret_access_key = S3cr3tValue\n", []string{"[default]\naws_secret_access_key = "}},
	".npmrc":             {"//registry.npmjs.org/:_authToken=S3cr3tValue\n@mine:registry=https://S3cr3t.example\n", []string{"//registry.npmjs.org/:_authToken=", "\n@mine:registry="}},
	"a.properties":       {"! S3cr3tComment\ndb.password=S3cr3tValue\\\n   S3cr3tMore\nother: S3cr3tOther\n", []string{"db.password=", "\\\n   ", "\nother: "}},
	"a.json":             {`{"key": "S3cr3tValue", "n": 7654321, "deep": {"a\"b": ["S3cr3t\"x", true, null, -7.65432e1]}}`, []string{`{"key": "`, `", "n": `, `"deep": {"a\"b": ["`, `", true, null, `}},
	"a.yaml":             {"# S3cr3tComment\nkey: S3cr3tValue # S3cr3tTail\nlist:\n  - name: 'S3cr3t''s'\n    \"quoted key\": \"S3cr3t\\\"Value\"\n  - S3cr3tItem\nblock: |\n  S3cr3tLine\n    S3cr3tDeeper: x\n\nflow: {\"a\": \"S3cr3tFlow\"}\nport: 7654321\non: true\nplain: S3cr3tFirst\n  S3cr3tSecond\n", []string{"\nkey: ", "\nlist:\n  - name: '", "\"quoted key\": \"", "\nblock: |\n  ", "\nflow: {\"a\": \"", "\nport: ", "\non: true\n"}},
	"a.toml":             {"# S3cr3tComment\ntitle = \"S3cr3tValue\" # S3cr3tTail\n[server.\"a b\"]\nport = 7654321\nratio = 7.65432\non = true\nlist = [\n  \"S3cr3tItem\", # S3cr3tTail\n  { k = 'S3cr3tLiteral' },\n]\ntext = \"\"\"\nS3cr3tLine\nS3cr3t\\\"\"\"\"\n[[more]]\nx.y = \"S3cr3tLast\"\n", []string{"title = \"", "[server.\"a b\"]\nport = ", "on = true", "{ k = '", "[[more]]\nx.y = \""}},
	"id.pem":             {"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,S3cr3t\n\nS3cr3tValue/S3cr3t+\nS3cr3tLast==\n-----END RSA PRIVATE KEY-----\n", []string{"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: ", "==\n-----END RSA PRIVATE KEY-----\n"}},
	"looks like nothing": {"-----BEGIN EC PRIVATE KEY-----\nS3cr3tValue\n-----END EC PRIVATE KEY-----\n", []string{"-----BEGIN EC PRIVATE KEY-----\n"}},
}

func TestFormats(t *testing.T) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before := c.text
			got, err := mask.File(key, "dir/"+name, []byte(c.text))
			require.NoError(t, err)
			require.Equal(t, before, c.text)
			require.Len(t, got, len(c.text))
			require.Contains(t, c.text, "S3cr3t", "the control")
			for _, secret := range []string{"S3cr", "3tVa", "7654", "cr3t", "Comm", "Tail", "Deep", "Seco"} {
				require.NotContains(t, string(got), secret)
			}
			for _, keep := range c.visible {
				require.Contains(t, c.text, keep, "the control")
				require.Contains(t, string(got), keep)
			}
			if strings.HasSuffix(name, ".json") {
				require.True(t, json.Valid(got))
			}
		})
	}
}

// What is not understood to the last byte is refused, and the error shows none of it. The
// same file without the line at fault is masked.
func TestUnclear(t *testing.T) {
	for _, c := range []struct{ name, good, bad string }{
		{".env", "A=x\n", "S3cr3tValue\n"},
		{".env", "A=x\n", "A=S3cr3t\\\nS3cr3t=x\n"},
		{".env", "A=x\n", "A=\"S3cr3t\n"},
		{".env", "A=x\n", "A='S3cr3t' S3cr3t\n"},
		{".env", "A=x\n", "A=S3cr3t\"S3cr3t\"\n"},
		{".env", "A=x\n", "A=$(S3cr3t)\n"},
		{".env", "A=x\n", "A=S3cr3t\x00\n"},
		{".env", "A=x\n", "A=S3cr3t\rS3cr3t=\n"},
		{".env", "A=x\n", "S3cr3tS3cr3tS3cr3tS3cr3tAA==\n"},
		{"a.ini", "[a]\nb=c\n", "S3cr3t\n"},
		{"a.ini", "[a]\nb=c\n", "[remote \"https://S3cr3t@x\"]\n"},
		{"a.ini", "[a]\nb=c\n", "b=S3cr3t\\\nS3cr3t=c\n"},
		{".npmrc", "a=b\n", "//user:S3cr3t@host/=b\n"},
		{"a.properties", "a=b\n", "S3cr3t\n"},
		{"a.properties", "a=b\n", "a=S3cr3t\\"},
		{"a.json", "{}", "// S3cr3t"},
		{"a.json", "{}", "{\"S3cr3t\": 1}"},
		{"a.yaml", "a: b\n", "c: &S3cr3t x\n"},
		{"a.yaml", "a: b\n", "c: !S3cr3t x\n"},
		{"a.yaml", "a: b\n", "c: \"S3cr3t\n  S3cr3t: x\"\n"},
		{"a.yaml", "a: b\n", "c: |2\n  S3cr3t: x\n"},
		{"a.yaml", "a: b\n", "c: S3cr3t\n  S3cr3t: x\n"},
		{"a.yaml", "a: b\n", "c: {S3cr3t: x}\n"},
		{"a.yaml", "a: b\n", "? S3cr3t\n: x\n"},
		{"a.yaml", "a: b\n", "\tS3cr3t: x\n"},
		{"a.toml", "a = 1\n", "S3cr3t\n"},
		{"a.toml", "a = 1\n", "b = S3cr3t\n"},
		{"a.toml", "a = 1\n", "b = \"S3cr3t\n"},
		{"a.toml", "a = 1\n", "b = \"\"\"S3cr3t\n"},
		{"a.toml", "a = 1\n", "b = [\"S3cr3t\"\n"},
		{"a.toml", "a = 1\n", "b = 1979-05-27\n"},
		{"a.pem", "-----BEGIN A-----\nAA==\n-----END A-----\n", "S3cr3t\n"},
		{"a.pem", "-----BEGIN A-----\nAA==\n-----END A-----\n", "-----BEGIN A-----\nS3cr3t\n"},
		{"a.pem", "-----BEGIN A-----\nAA==\n-----END A-----\n", "-----BEGIN A-----\nS3 cr3t\n-----END A-----\n"},
	} {
		_, err := mask.File(key, c.name, []byte(c.good))
		require.NoError(t, err, "the control: %s %q", c.name, c.good)
		got, err := mask.File(key, c.name, []byte(c.good+c.bad))
		var unclear *mask.UnclearError
		require.True(t, errors.As(err, &unclear), "%s %q: %q", c.name, c.bad, got)
		require.Nil(t, got)
		require.NotContains(t, err.Error(), "S3cr")
	}
	for _, name := range []string{"notes.txt", "id_rsa", ".envrc", "Makefile"} {
		_, err := mask.File(key, name, []byte("A=x\n"))
		require.ErrorContains(t, err, "no format")
	}
	_, err := mask.File(key, ".env", bytes.Repeat([]byte("A=x\n"), mask.MaxSize/4+1))
	require.ErrorContains(t, err, "larger")
	_, err = mask.File(key, ".env", bytes.Repeat([]byte("A=x\n"), mask.MaxSize/4))
	require.NoError(t, err)
}

// One value has one stand-in, in every format and place; another key gives another.
func TestEqualValues(t *testing.T) {
	show := func(k mask.Key, name, text string) string {
		got, err := mask.File(k, name, []byte(text))
		require.NoError(t, err)
		return string(got)
	}
	one := strings.TrimPrefix(show(key, ".env", "K=S3cr3tValue"), "K=")
	for name, format := range map[string]string{".env": "OTHER='%s'", "a.ini": "k = \"%s\"", ".npmrc": "k=%s", "a.properties": "k: %s", "a.json": `{"k":"%s"}`, "a.yaml": "k: '%s'", "a.toml": "k = \"%s\""} {
		require.Equal(t, fmt.Sprintf(format, one), show(key, name, fmt.Sprintf(format, "S3cr3tValue")), name)
	}
	number := strings.TrimPrefix(show(key, ".env", "K=7654321"), "K=")
	require.Equal(t, `["`+number+`",`+number+`]`, show(key, "a.json", `["7654321",7654321]`))
	require.NotEqual(t, one, strings.TrimPrefix(show(mask.Key{9}, ".env", "K=S3cr3tValue"), "K="))
	require.NotEqual(t, one, strings.TrimPrefix(show(key, ".env", "K=S3cr3tValuf"), "K="))
}

// Whatever the values are, no four bytes of one are seen at its place, and a parser reads
// the same keys as before.
func TestAnyValues(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		value := rapid.StringMatching(`[A-Za-z0-9/+=_.,:;!?*&@%-]{4,60}`).Draw(r, "value")
		quoted, _ := json.Marshal(map[string]any{"first key": value, "list": []any{value, 1234567, map[string]any{"k": value}}})
		got, err := mask.File(key, "a.json", quoted)
		require.NoError(r, err)
		sameKeys(r, json.Unmarshal, quoted, got)
		noneOf(r, value, got, quoted)

		text, err := yaml.Marshal(map[string]any{"first_key": value, "list": []any{value, map[string]any{"k": value}}})
		require.NoError(r, err)
		if got, err := mask.File(key, "a.yaml", text); err == nil {
			require.Len(r, got, len(text))
			sameKeys(r, yaml.Unmarshal, text, got)
			noneOf(r, value, got, text)
		}

		env := []byte("FIRST=\"" + value + "\"\nSECOND='" + value + "'\n")
		got, err = mask.File(key, ".env", env)
		require.NoError(r, err)
		noneOf(r, value, got, env)
		require.Regexp(r, `^FIRST="[A-Za-z0-9]+"\nSECOND='[A-Za-z0-9]+'\n$`, string(got))
	})
}

// noneOf fails if four bytes of value that are not what the file is made of are shown.
func noneOf(t *rapid.T, value string, shown, file []byte) {
	rest := bytes.ReplaceAll(file, []byte(value), nil)
	for i := 4; i <= len(value); i++ {
		if part := []byte(value[i-4 : i]); !bytes.Contains(rest, part) {
			require.NotContains(t, string(shown), string(part))
		}
	}
}

func sameKeys(t *rapid.T, read func([]byte, any) error, before, after []byte) {
	var a, b any
	require.NoError(t, read(before, &a))
	require.NoError(t, read(after, &b), "%s", after)
	require.Equal(t, keysOf(a), keysOf(b))
}

// keysOf is the shape of a document.
func keysOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := map[string]any{}
		for k, e := range v {
			keys[k] = keysOf(e)
		}
		return keys
	case []any:
		list := []any{}
		for _, e := range v {
			list = append(list, keysOf(e))
		}
		return list
	}
	return nil
}

// FuzzFile finds no input that panics, changes its length, or loses a line.
func FuzzFile(f *testing.F) {
	for name, c := range cases {
		f.Add(name, []byte(c.text))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		got, err := mask.File(key, name, data)
		if err != nil {
			require.Nil(t, got)
			return
		}
		require.Len(t, got, len(data))
		require.Equal(t, bytes.Count(data, []byte("\n")), bytes.Count(got, []byte("\n")))
		again, err := mask.File(key, name, data)
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}
