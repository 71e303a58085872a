package claudecode

import (
	"encoding/json"
	"slices"
	"testing"
)

// A15, M4: what Claude Code reads in another way than the rules do is no path
// beneath the directory.
func TestPathsOfMoreThanOneMeaning(t *testing.T) {
	for _, c := range []struct{ tool, input string }{
		{"Read", `{"file_path":"~/.ssh/id_rsa"}`},
		{"Write", `{"file_path":"~","content":""}`},
		{"Write", `{"file_path":" /etc/cron.d/x","content":""}`},
		{"Edit", `{"file_path":"secrets/a.key ","old_string":"a","new_string":"b"}`},
		{"NotebookEdit", `{"notebook_path":"\ufeff/etc/x"}`},
		{"Grep", `{"pattern":".","path":"~/.ssh"}`},
		{"LS", `{"path":"~/.ssh"}`},
		{"Glob", `{"pattern":"*","path":"~/.ssh"}`},
		{"Glob", `{"pattern":"~/.ssh/*"}`},
		{"Glob", `{"pattern":"{..,src}/*"}`},
		{"Glob", `{"pattern":"{/etc,src}/*"}`},
		{"Glob", `{"pattern":"{src,/etc}/*"}`},
		{"Glob", `{"pattern":"[.][.]/*"}`},
	} {
		if e, err := EffectsOf(c.tool, json.RawMessage(c.input), "/p"); err == nil {
			t.Errorf("%s %s: understood as %v", c.tool, c.input, e.Uses)
		}
	}
	for _, path := range []string{"a b", "x~", ".~lock", "~x", "a/~/b", "./~/x"} { // ./~ is what it says
		input, _ := json.Marshal(map[string]string{"file_path": path})
		e, err := EffectsOf("Read", input, "/p")
		if err != nil || e.Uses[0].Path != "/p/"+path {
			t.Errorf("%q: %v, %v", path, e.Uses, err)
		}
	}
	for _, pattern := range []string{"**/*.{ts,tsx}", "src/{a,b}/*.go", "[a-z]*/..x*"} {
		input, _ := json.Marshal(map[string]string{"pattern": pattern})
		if _, err := EffectsOf("Glob", input, "/p"); (err != nil) != (pattern == "[a-z]*/..x*") {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}

// A12: ".." after a link leads the kernel to one place and Claude Code to
// another: both are decided about.
func TestClimbingCountsTwice(t *testing.T) {
	for path, want := range map[string][]string{
		"/p/link/../go.mod": {"/p/link/../go.mod", "/p/go.mod"},
		"../x":              {"/p/../x", "/x"},
		"..data/x":          {"/p/..data/x"},
	} {
		input, _ := json.Marshal(map[string]string{"file_path": path})
		e, err := EffectsOf("Read", input, "/p")
		var got []string
		for _, u := range e.Uses {
			got = append(got, u.Path)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
}
