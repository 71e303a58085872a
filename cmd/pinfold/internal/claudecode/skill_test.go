package claudecode

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A call becomes a skill's only where that makes exactly the same change.
func TestAsSkill(t *testing.T) {
	for _, c := range []struct{ tool, input, skill, args string }{
		{"Write", `{"file_path":"x","content":""}`, "write_file", `{"path":"p","content":""}`},
		{"Edit", `{"file_path":"x","old_string":"a","new_string":""}`, "edit_file", `{"path":"p","old_string":"a","new_string":"","replace_all":false}`},
		{"Edit", `{"old_string":"a","new_string":"b","replace_all":true}`, "edit_file", `{"path":"p","old_string":"a","new_string":"b","replace_all":true}`},
		{"Edit", `{"old_string":"","new_string":"b"}`, "write_file", `{"path":"p","content":"b","overwrite":false}`},
		{"Edit", `{"old_string":"a"}`, "", ""},
		{"Write", `{"file_path":"x"}`, "", ""},
		{"Write", `{"content":7}`, "", ""},
		{"Write", `[]`, "", ""},
		{"MultiEdit", `{"old_string":"a","new_string":"b"}`, "", ""}, // one edit after the other
		{"NotebookEdit", `{"content":"a"}`, "", ""},
		{"Read", `{"content":"a"}`, "", ""},
	} {
		skill, args, ok := AsSkill(c.tool, json.RawMessage(c.input), "p")
		require.Equal(t, c.skill, skill, c.input)
		require.Equal(t, c.skill != "", ok, c.input)
		if ok {
			require.JSONEq(t, c.args, string(args))
		}
	}
}
