package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun has a server on loopback play the model: it writes where it may,
// then where it may not, and reads the refusal.
func TestRun(t *testing.T) {
	script := []string{
		`{"type":"tool_use","id":"1","name":"write_file","input":{"path":"out/a.txt","content":"hello\n"}}`,
		`{"type":"tool_use","id":"2","name":"write_file","input":{"path":"b.txt","content":"hello\n"}}`,
		`{"type":"text","text":"done"}`,
	}
	turn, last := 0, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Tools    []map[string]any
			Messages json.RawMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Tools) == 0 {
			t.Errorf("%d tools, %v", len(body.Tools), err)
		}
		if schema, _ := body.Tools[0]["input_schema"].(map[string]any); schema["additionalProperties"] != false {
			t.Errorf("the schema lost something: %v", body.Tools[0])
		}
		last = string(body.Messages)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"m","type":"message","role":"assistant","model":"x","content":[` + script[turn] + `],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`))
		turn++
	}))
	defer server.Close()
	t.Setenv("ANTHROPIC_BASE_URL", server.URL)
	t.Setenv("ANTHROPIC_API_KEY", "none")
	dir := t.TempDir()
	if err := run(t.Context(), "x", dir, "try"); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "out", "a.txt")); err != nil || string(data) != "hello\n" {
		t.Fatal(string(data), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "b.txt")); err == nil {
		t.Fatal("b.txt was written")
	}
	if !strings.Contains(last, "Path 'b.txt' is outside the allowed sandbox") {
		t.Fatal(last)
	}
}
