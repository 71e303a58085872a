//go:build linux

package proposal_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/proposal"
	"github.com/pinfold-dev/pinfold/permission"
)

// workerDoc is a worker who writes docs, asks for src, and sees no secrets.
const workerDoc = "version: 1\nextends: sandboxed\nfs: {write: [docs], ask_write: [src, key.txt], ask_read: [asked, src/read], hide: [secret]}\ntools: {Write: {requires_confirmation: true}, MultiEdit: {enabled: true}, Bash: {enabled: true}}\n"

// world is a broker with one worker in a project of its own.
type world struct {
	*testing.T
	b    *broker.Broker
	m    *proposal.Maker
	root string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "broker.db"))
	require.NoError(t, err)
	b, err := broker.New(t.Context(), broker.Options{Store: store})
	require.NoError(t, err)
	t.Cleanup(func() {
		b.Close()
		require.NoError(t, store.Close())
	})
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{T: t, b: b, m: proposal.New(b, nil), root: root}
	for _, dir := range []string{"src", "docs", "secret", "asked"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, dir), 0o755))
	}
	w.file("src/a.go", "package a\n\nconst version = 1\n")
	w.file("secret/key", "the key\n")
	w.file("asked/old", "the asked\n")
	src, err := permission.Decode("worker.yaml", []byte(workerDoc))
	require.NoError(t, err)
	policy, err := permission.Compile(src, permission.Options{Root: root})
	require.NoError(t, err)
	for _, id := range []string{"worker", "other"} {
		_, _, err = b.Hire(t.Context(), broker.OperatorIdentity(), broker.HireSpec{ID: id, Cwd: root, Policy: policy})
		require.NoError(t, err)
	}
	return w
}

func (w *world) file(name, text string) {
	w.Helper()
	require.NoError(w, os.WriteFile(filepath.Join(w.root, name), []byte(text), 0o644))
}

// ask makes a request, and returns what is proposed by it.
func (w *world) ask(action access.Action, resource, tool, input string) brokerhttp.Proposal {
	w.Helper()
	r, err := w.b.Ask(w.Context(), broker.AgentIdentity("worker"), access.Request{Action: action, Resource: resource, Tool: tool, MayBlock: true, Input: []byte(input)})
	require.NoError(w, err)
	p, err := w.m.Of(w.Context(), broker.OperatorIdentity(), r.ID)
	require.NoError(w, err)
	require.Equal(w, r.ID, p.RequestID)
	require.Equal(w, r.Digest, p.Digest)
	return p
}

// tree is all files of the project with their content.
func (w *world) tree() map[string]string {
	all := map[string]string{}
	require.NoError(w, filepath.WalkDir(w.root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all[path] = "dir"
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	}))
	return all
}

// D6: whoever answers sees what each of the skills would change, and nothing is
// touched to show it.
func TestDifferences(t *testing.T) {
	w := newWorld(t)
	before := w.tree()
	for _, c := range []struct {
		tool, resource, input string
		diff                  string
		added, removed        int
	}{
		{"edit_file", "src/a.go", `{"path":"src/a.go","old_string":"version = 1","new_string":"version = 2"}`, "--- a/src/a.go\n+++ b/src/a.go\n@@ -1,3 +1,3 @@\n package a\n \n-const version = 1\n+const version = 2\n", 1, 1},
		{"write_file", "src/a.go", `{"path":"src/a.go","content":"package b\n"}`, "--- a/src/a.go\n+++ b/src/a.go\n@@ -1,3 +1 @@\n-package a\n-\n-const version = 1\n+package b\n", 1, 3},
		{"write_file", "src/deep/new.go", `{"path":"src/deep/new.go","content":"package deep\n"}`, "--- /dev/null\n+++ b/src/deep/new.go\n@@ -0,0 +1 @@\n+package deep\n", 1, 0},
		{"append_file", "src/a.go", `{"path":"src/a.go","content":"// end"}`, "--- a/src/a.go\n+++ b/src/a.go\n@@ -1,3 +1,4 @@\n package a\n \n const version = 1\n+// end\n", 1, 0},
		{"regex_replace", "src/a.go", `{"path":"src/a.go","pattern":"version = \\d","replacement":"version = 9"}`, "--- a/src/a.go\n+++ b/src/a.go\n@@ -1,3 +1,3 @@\n package a\n \n-const version = 1\n+const version = 9\n", 1, 1},
		{"edit_file_batch", "src/a.go", `{"path":"src/a.go","edits":[{"old_string":"package a","new_string":"package z"},{"old_string":"= 1","new_string":"= 3"}]}`, "--- a/src/a.go\n+++ b/src/a.go\n@@ -1,3 +1,3 @@\n-package a\n+package z\n \n-const version = 1\n+const version = 3\n", 2, 2},
		{"copy_file", "src/b.go", `{"source":"src/a.go","destination":"src/b.go"}`, "--- /dev/null\n+++ b/src/b.go\n@@ -0,0 +1,3 @@\n+package a\n+\n+const version = 1\n", 3, 0},
		{"Write", "src/a.go", `{"file_path":"ROOT/src/a.go","content":"package c\n"}`, "--- a/src/a.go\n+++ b/src/a.go\n@@ -1,3 +1 @@\n-package a\n-\n-const version = 1\n+package c\n", 1, 3},
		{"Edit", "src/a.go", `{"file_path":"ROOT/src/a.go","old_string":"= 1","new_string":"= 4"}`, "--- a/src/a.go\n+++ b/src/a.go\n@@ -1,3 +1,3 @@\n package a\n \n-const version = 1\n+const version = 4\n", 1, 1},
		{"MultiEdit", "src/a.go", `{"file_path":"src/a.go","edits":[{"old_string":"= 1","new_string":"= 5"},{"old_string":"= 5","new_string":"= 6"}]}`, "--- a/src/a.go\n+++ b/src/a.go\n@@ -1,3 +1,3 @@\n package a\n \n-const version = 1\n+const version = 6\n", 1, 1},
	} {
		p := w.ask(access.FSWrite, c.resource, c.tool, strings.ReplaceAll(c.input, "ROOT", w.root))
		require.Empty(t, p.Note, c.tool)
		require.Equal(t, c.diff, p.Diff, c.tool)
		require.Equal(t, []int{c.added, c.removed}, []int{p.Added, p.Removed}, c.tool)
		require.False(t, p.Cut)
	}
	require.Equal(t, before, w.tree())
}

// D6: where there is nothing to show, it is said why.
func TestNotes(t *testing.T) {
	w := newWorld(t)
	w.file("src/big", strings.Repeat("x", 5<<20))
	w.file("src/bin", "a\x00b")
	w.file("src/read", "a\n")
	require.NoError(t, os.Symlink("a.go", filepath.Join(w.root, "src/link")))
	before := w.tree()
	for _, c := range []struct {
		action                access.Action
		resource, tool, input string
		note                  string
	}{
		{access.FSWrite, "src/a.go", "", "", "not known before it is written"},
		{access.FSDelete, "src/a.go", "", "", ""},
		{access.FSWrite, "src/a.go", "Bash", `{"command":"rm x"}`, "no difference can be made for this tool"},
		{access.FSWrite, "src/a.go", "Edit", `{"file_path":7}`, "are not what this tool takes"},
		{access.FSWrite, "src/a.go", "edit_file", `{"path":"src/a.go","old_string":"nowhere","new_string":"x"}`, "as the files are now, the call would fail: "},
		{access.FSWrite, "src/a.go", "write_file", `{"path":"src/a.go","content":"package a\n\nconst version = 1\n"}`, "would change nothing"},
		{access.FSWrite, "src/empty", "write_file", `{"path":"src/empty","content":""}`, "would be made, without content"},
		{access.FSWrite, "src/bin", "append_file", `{"path":"src/bin","content":"x"}`, "would fail"},
		{access.FSWrite, "src/x", "write_file", `{"path":"src/x","content":"a\u0000"}`, "is no text"},
		{access.FSWrite, "src/big", "append_file", `{"path":"src/big","content":"x"}`, "too large"},
		// The words of a call do not hide what is asked for.
		{access.FSWrite, "key.txt", "write_file", `{"path":"docs/a","content":"harmless"}`, "name another place than the one that is asked for: 'docs/a'"},
		{access.FSWrite, "src/b.go", "edit_file", `{"path":"src/link","old_string":"= 1","new_string":"= 2"}`, "another place than the one that is asked for: 'src/a.go'"},
		// Nor do they show what the agent could not read.
		{access.FSWrite, "key.txt", "copy_file", `{"source":"secret/key","destination":"key.txt"}`, "would fail"},
		{access.FSWrite, "key.txt", "copy_file", `{"source":"asked/old","destination":"key.txt"}`, "only after asking, so no difference"},
		{access.FSWrite, "src/read", "edit_file", `{"path":"src/read","old_string":"a","new_string":"b"}`, "only after asking, so no difference"},
		{access.FSWrite, "key.txt", "copy_file", `{"source":"/etc/passwd","destination":"key.txt"}`, "would fail"},
	} {
		p := w.ask(c.action, c.resource, c.tool, c.input)
		require.Empty(t, p.Diff, c.input)
		require.NotContains(t, p.Note, "the key\n")
		if c.note == "" {
			require.Empty(t, p.Note)
			continue
		}
		require.Contains(t, p.Note, c.note)
	}
	// A tool that has to be asked for as such writes where the agent may anyway.
	p := w.ask(access.ToolUse, "Write", "Write", `{"file_path":"docs/n","content":"n\n"}`)
	require.Equal(t, "--- /dev/null\n+++ b/docs/n\n@@ -0,0 +1 @@\n+n\n", p.Diff)
	require.Equal(t, before, w.tree())
}

// D6: what an agent writes is text: it moves no cursor, forges no line, and is
// bounded.
func TestHostileContent(t *testing.T) {
	w := newWorld(t)
	p := w.ask(access.FSWrite, "src/x", "write_file", `{"path":"src/x","content":"a\u001b[2Jb\r\tc\u202ed\n"}`)
	require.Equal(t, "--- /dev/null\n+++ b/src/x\n@@ -0,0 +1 @@\n+a\\x1b[2Jb\\r\tc\\u202ed\n", p.Diff)
	p = w.ask(access.FSWrite, "src/e\n+forged", "write_file", `{"path":"src/e\n+forged","content":"a\n"}`)
	require.Equal(t, "--- /dev/null\n+++ b/src/e\\n+forged\n@@ -0,0 +1 @@\n+a\n", p.Diff)

	p = w.ask(access.FSWrite, "src/y", "write_file", `{"path":"src/y","content":"`+strings.Repeat(`\u202e\n`, 20_000)+`"}`)
	require.True(t, p.Cut)
	require.Equal(t, 20_000, p.Added)
	require.Less(t, len(p.Diff), 70<<10)
	require.Contains(t, p.Diff[len(p.Diff)-200:], "[diff cut")
	p = w.ask(access.FSWrite, "src/z", "write_file", `{"path":"src/z","content":"`+strings.Repeat(`x`, 100_000)+`"}`)
	require.True(t, p.Cut)
	require.Contains(t, p.Diff, "bytes more]")
}

// Must show 6: nobody but those who may see the request is shown it.
func TestStrangers(t *testing.T) {
	w := newWorld(t)
	r, err := w.b.Ask(t.Context(), broker.AgentIdentity("worker"), access.Request{Action: access.FSWrite, Resource: "src/a.go", Tool: "write_file", MayBlock: true, Input: []byte(`{"path":"src/a.go","content":"x"}`)})
	require.NoError(t, err)
	for _, who := range []broker.Identity{broker.AgentIdentity("other"), broker.AgentIdentity("nobody"), {}} {
		_, err := w.m.Of(t.Context(), who, r.ID)
		var refused *broker.Error
		require.ErrorAs(t, err, &refused)
	}
	p, err := w.m.Of(t.Context(), broker.AgentIdentity("worker"), r.ID)
	require.NoError(t, err)
	require.NotEmpty(t, p.Diff)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = w.m.Of(ended, broker.OperatorIdentity(), r.ID)
	require.Error(t, err)
	// A project with the broker's own files in it is not read.
	guarded := proposal.New(w.b, func(string) error { return os.ErrPermission })
	p, err = guarded.Of(t.Context(), broker.OperatorIdentity(), r.ID)
	require.NoError(t, err)
	require.Empty(t, p.Diff)
	require.Contains(t, p.Note, "the broker's own files")
}
