package proposal

import (
	"bytes"
	"testing"
)

// D6: what is shown is what the tool reads, whose keys are exact.
func TestPeerKeysAreExact(t *testing.T) {
	for tool, input := range map[string]string{
		"Write":     `{"file_path":"a","content":"evil","Content":"benign"}`,
		"Edit":      `{"file_path":"a","old_string":"x","new_string":"evil","NEW_STRING":"benign"}`,
		"MultiEdit": `{"file_path":"a","edits":[{"old_string":"x","new_string":"evil","New_\u017ftring":"benign"}]}`,
	} {
		calls, known := peerCalls(tool, []byte(input))
		if !known || len(calls) != 1 || !bytes.Contains(calls[0].input, []byte("evil")) || bytes.Contains(calls[0].input, []byte("benign")) {
			t.Errorf("%s shows %s", tool, calls)
		}
	}
	if calls, _ := peerCalls("Write", []byte(`{"file_path":"a","content":"benign","content":"evil"}`)); len(calls) != 0 {
		t.Errorf("one key twice shows %s", calls)
	}
}
