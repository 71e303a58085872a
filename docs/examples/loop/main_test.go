package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun edits a file beneath the write path and is refused beside it.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "out"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "out", "a.txt"), []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	model := strings.NewReader(`{"name":"edit_file","input":{"path":"out/a.txt","old_string":"old","new_string":"new"}}
{"name":"write_file","input":{"path":"b.txt","content":"x"}}
`)
	var out strings.Builder
	if err := run(t.Context(), dir, model, &out); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "out", "a.txt")); string(data) != "new\n" {
		t.Fatalf("%q: %s", data, out.String())
	}
	if !strings.Contains(out.String(), "error: Path 'b.txt' is outside the allowed sandbox") {
		t.Fatal(out.String())
	}
}
