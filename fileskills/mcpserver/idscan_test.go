package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzIDScanner holds that an id is made out in bytes that pass by as it is in the
// whole message, wherever they are cut.
func FuzzIDScanner(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"ping"}`, `{"method":"x","id":"a\"b\\","params":{"id":[{"id":2}]}}`,
		`{ "id" : 1.5e3 , "method" : 1 }`, `{"id":1,"id":null,"method":"x"}`, `{"\u0069d":3,"method":"x"}`, `{"id":{"id":1},"method":"x"}`,
		`[{"id":1,"method":"x"},"id",2,"method",3]`, `{"method":"x","id":true}`, `{"a":"id","method":"id","b":[],"c":{},"id":"` + strings.Repeat("y", maxID) + `"}`,
	} {
		f.Add([]byte(line), 1)
		f.Add([]byte(line), 1000)
	}
	f.Fuzz(func(t *testing.T, line []byte, size int) {
		var s idScanner
		for rest, size := line, max(size, 1); len(rest) > 0; {
			n := min(size, len(rest))
			s.scan(rest[:n])
			rest = rest[n:]
		}
		require.LessOrEqual(t, len(s.text), maxID+1)
		var whole map[string]json.RawMessage
		if !json.Valid(line) || json.Unmarshal(line, &whole) != nil || strings.Contains(string(line), "\ufffd") {
			return // what is no object has no id
		}
		want := idOf(line)
		if _, request := whole["method"]; !request || len(whole["id"]) > maxID {
			want = nil
		}
		for name := range whole { // encoding/json takes them for the same, the protocol does not
			if name != "id" && strings.EqualFold(name, "id") || name != "method" && strings.EqualFold(name, "method") {
				return
			}
		}
		require.Equal(t, string(want), string(s.request()))
	})
}
