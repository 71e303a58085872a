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
		`{"type":"function_call","id":"f1","call_id":"1","name":"write_file","status":"completed","arguments":"{\"path\":\"out/a.txt\",\"content\":\"hello\\n\",\"overwrite\":null,\"dry_run\":null,\"expected_hash\":null}"}`,
		`{"type":"function_call","id":"f2","call_id":"2","name":"write_file","status":"completed","arguments":"{\"path\":\"b.txt\",\"content\":\"hello\\n\"}"}`,
		`{"type":"message","id":"m1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"done","annotations":[]}]}`,
	}
	turn, last := 0, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Tools []map[string]any
			Input json.RawMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Tools) == 0 || body.Tools[0]["strict"] != true {
			t.Errorf("tools %v, %v", body.Tools, err)
		}
		last = string(body.Input)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"r","object":"response","status":"completed","model":"x","output":[` + script[turn] + `]}`))
		turn++
	}))
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.URL)
	t.Setenv("OPENAI_API_KEY", "none")
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
