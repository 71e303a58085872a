package integration

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/integration/ops"
	"github.com/pinfold-dev/pinfold/permission"
)

// grant is a session that may do something.
type grant struct {
	read   func(path string) error
	writes func(dir string) []attempt // every way of writing, in dir
}

// attempt is one way of writing.
type attempt struct {
	name  string
	skill bool
	do    func() error
}

// skillCalls is a session of the file skills.
func skillCalls(call func(name string, args map[string]any) (string, error)) grant {
	return grant{
		read: func(path string) error {
			_, err := call("read_file", map[string]any{"path": path})
			return err
		},
		writes: func(dir string) []attempt {
			in := func(name string) string { return dir + "/" + name }
			one := map[string]any{"old_string": "one", "new_string": "eins"}
			var list []attempt
			for _, c := range []toolCall{
				{"write_file", map[string]any{"path": in("write"), "content": "new"}},
				{"edit_file", map[string]any{"path": in("edit"), "old_string": "two", "new_string": "zwei"}},
				{"edit_file_batch", map[string]any{"path": in("batch"), "edits": []any{one}}},
				{"append_file", map[string]any{"path": in("append"), "content": "three"}},
				{"regex_replace", map[string]any{"path": in("regex"), "pattern": "o(.)e", "replacement": `\1`}},
				{"mkdir", map[string]any{"path": in("made")}},
				{"copy_file", map[string]any{"source": "src/readme", "destination": in("copied")}}, // W11: its source is only read
				{"rename", map[string]any{"source": in("move"), "destination": in("moved")}},       // W12
				{"delete_file", map[string]any{"path": in("delete")}},
				{"apply_patch", map[string]any{"patch": "*** Begin Patch\n*** Add File: " + in("patched") + "\n+new\n*** End Patch\n"}},
			} {
				list = append(list, attempt{name: c.Name, skill: true, do: func() error {
					_, err := call(c.Name, c.Arguments)
					return err
				}})
			}
			return list
		},
	}
}

// TestEveryWriteSkillIsTried holds the list above to the skills there are (W5).
func TestEveryWriteSkillIsTried(t *testing.T) {
	var want, got []string
	for _, s := range fileskills.All() {
		if s.Writes() {
			want = append(want, s.Name)
		}
	}
	for _, w := range skillCalls(nil).writes("x") {
		got = append(got, w.name)
	}
	require.ElementsMatch(t, want, got)
}

// refused says why err is no refusal by the rules, or "".
func (w attempt) refused(err error) string {
	var e *fileskills.Error
	var o *opError
	switch {
	case err == nil:
		return "it succeeded"
	case w.skill && errors.As(err, &e): // W13
		if !strings.HasPrefix(e.Error(), "Path '") || !strings.Contains(e.Error(), "' is outside the allowed sandbox") {
			return "not the text of a refusal: " + e.Error()
		}
	case w.skill: // not offered at all
		if !strings.Contains(err.Error(), "unknown tool") {
			return err.Error()
		}
	case !errors.As(err, &o) || o.Errno != "EROFS" && o.Errno != "EACCES":
		return "not refused by the view: " + err.Error()
	}
	return ""
}

// systemCalls is a process that does operations.
func systemCalls(e ops.Executor) grant {
	act := func(verb string, args ...string) func() error {
		return func() error { return failed(do(e, do1(verb, args...), opLimit)) }
	}
	return grant{
		read: func(path string) error { return act("read", path)() },
		writes: func(dir string) []attempt {
			in := func(name string) string { return dir + "/" + name }
			return []attempt{
				{"write", false, act("write", in("write"), "new")},
				{"append", false, act("append", in("append"), "three")},
				{"create", false, act("create", in("created"), "new")},
				{"truncate", false, act("truncate", in("truncate"), "1")},
				{"mkdir", false, act("mkdir", in("made"))},
				{"rename", false, act("rename", in("move"), in("moved"))},
				{"remove", false, act("remove", in("delete"))},
				{"symlink", false, act("symlink", "x", in("symlink"))},
				{"link", false, act("link", in("linked"), in("hardlink"))},
				{"chmod", false, act("chmod", in("mode"), "600")},
				{"chtimes", false, act("chtimes", in("times"))},
			}
		},
	}
}

// failed is the error of a result.
func failed(res ops.Result) error {
	if res.OK() {
		return nil
	}
	return &opError{res}
}

type opError struct{ ops.Result }

func (e *opError) Error() string { return strings.TrimSpace(e.Rule + " " + e.Errno + " " + e.Text) }

// TestEverySkillIsKnown holds what lists skills by name to the skills there are:
// a preset and a profile that let somebody write, the tools of other agents that
// stand for them, and the page that describes them.
func TestEverySkillIsKnown(t *testing.T) {
	page, err := os.ReadFile("../docs/skills.md")
	require.NoError(t, err)
	definition, err := permission.ParseAgent("a.md", []byte("---\nname: a\nprofile: WRITE\ntools: Read, Grep, Glob, Write, Edit\n---\n"))
	require.NoError(t, err)
	agent, _, err := definition.Policy(permission.Options{})
	require.NoError(t, err)
	policies := map[string]*permission.Policy{"an agent with the same tools": agent}
	for _, name := range []string{"sandboxed", "WRITE"} {
		policies[name], err = permission.Preset(name, permission.Options{})
		require.NoError(t, err)
	}
	for _, s := range fileskills.All() {
		require.Contains(t, string(page), "`"+s.Name+"`")
		for name, p := range policies {
			d := p.Check(t.Context(), access.Request{Action: access.ToolUse, Resource: s.Name})
			require.Equal(t, access.Allow, d.Effect, "%s: %s", name, s.Name)
		}
	}
}
