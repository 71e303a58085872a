package fileskills

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// writeCalls is a call of every write-capable skill at a path.
func writeCalls(path string) map[string]args {
	return map[string]args{
		"write_file":      {"path": path, "content": "new\n"},
		"append_file":     {"path": path, "content": "more\n"},
		"edit_file":       {"path": path, "old_string": "ok", "new_string": "changed"},
		"edit_file_batch": {"path": path, "edits": []args{{"old_string": "ok", "new_string": "changed"}}},
		"regex_replace":   {"path": path, "pattern": "o.", "replacement": "changed"},
		"mkdir":           {"path": path + ".d"},
		"copy_file":       {"source": "ok.txt", "destination": path + ".copy"},
		"rename":          {"source": path, "destination": path + ".moved"},
		"delete_file":     {"path": path},
		"apply_patch":     {"patch": "*** Begin Patch\n*** Update File: " + path + "\n-ok\n+changed\n*** End Patch\n"},
	}
}

func withEverything(t *testing.T) func(*Config) {
	return func(c *Config) {
		c.Enable, c.StateDir = nil, t.TempDir()
		for _, k := range all {
			if k.off {
				c.Enable = append(c.Enable, k.name)
			}
		}
	}
}

// TestWriteRules: W5, W6, W13. Every skill that writes is refused without a
// write path and beside one, and the same call beneath one succeeds.
func TestWriteRules(t *testing.T) {
	tested := 0
	for _, k := range all {
		if !k.writes() {
			continue
		}
		tested++
		t.Run(k.name, func(t *testing.T) {
			call, ok := writeCalls("ok.txt")[k.name]
			require.True(t, ok, "no call of %s to test it with", k.name)

			none := newWorldWith(t, pathresolver.Config{}, withEverything(t))
			e := none.refused(CodeWriteNotAllowed, k.name, call) // W5
			require.Contains(t, e.Message, "; nothing is writable")
			require.Equal(t, "ok\n", none.read("ok.txt"))

			w := newWorldWith(t, pathresolver.Config{WritePaths: []string{"out", "notes.md"}}, withEverything(t))
			e = w.refused(CodeWriteNotAllowed, k.name, call)
			given := strings.TrimSuffix(strings.TrimPrefix(e.Message, "Path '"), "' is outside the allowed sandbox for writing; writable: notes.md, out")
			require.Equal(t, "Path '"+e.Path+"' is outside the allowed sandbox for writing; writable: notes.md, out", e.Message) // W13
			require.True(t, strings.HasPrefix(given, "ok.txt"), given)
			require.Equal(t, k.name+" may not write it: no write path covers it. Reading is allowed.\nTo allow it, add the write path '"+e.Path+"'", e.Hint)
			require.Equal(t, []string{"notes.md", "out"}, e.Data["writable"])
			require.Equal(t, []string{"ok.txt", "out"}, w.names("."))
			require.Equal(t, "ok\n", w.read("ok.txt"))

			w.write("out/f", "ok\n")
			w.ok(k.name, writeCalls("out/f")[k.name]) // W6
		})
	}
	require.NotZero(t, tested)
}

// What is written beneath "." is not told as "Writable: ..", another directory.
func TestEverythingIsWritable(t *testing.T) {
	w := newWorldWith(t, pathresolver.Config{WritePaths: []string{"."}, Protect: []string{"keep"}})
	for _, path := range []string{"keep", "../outside/new"} {
		_, err := w.call("write_file", args{"path": path, "content": "x"})
		require.ErrorContains(t, err, "ritable: everything beneath the sandbox root that is neither hidden nor protected")
		require.NotContains(t, err.Error(), "ritable: .")
	}
	w.ok("write_file", args{"path": "new", "content": "x"})
}

// TestOutside: A01, A02, B01, B10 through every skill that writes.
func TestOutside(t *testing.T) {
	for _, k := range all {
		if !k.writes() {
			continue
		}
		w := newWorldWith(t, pathresolver.Config{WritePaths: []string{"."}}, withEverything(t))
		require.NoError(t, os.Symlink("../outside", w.path("ld")))
		require.NoError(t, os.Symlink("../outside/new", w.path("dangling")))
		for path, code := range map[string]Code{
			"../outside/secret":        CodePathOutsideRoot,
			w.base + "/outside/secret": CodePathOutsideRoot,
			"ld/secret":                CodeSymlinkEscape,
		} {
			e := w.refused(code, k.name, writeCalls(path)[k.name])
			require.True(t, strings.HasPrefix(e.Message, "Path '"+path), e.Message)
			require.NotContains(t, e.Hint, w.base)
		}
		if k.name == "write_file" || k.name == "append_file" {
			w.refused(CodeSymlinkEscape, k.name, writeCalls("dangling")[k.name]) // B10
		}
		secret, err := os.ReadFile(w.base + "/outside/secret")
		require.NoError(t, err)
		require.Equal(t, "secret\n", string(secret), k.name)
		entries, err := os.ReadDir(w.base + "/outside")
		require.NoError(t, err)
		require.Len(t, entries, 1, k.name)
	}
}

// TestMessageIsEscaped: W13, V11.
func TestMessageIsEscaped(t *testing.T) {
	e := newWorld(t).refused(CodeWriteNotAllowed, "write_file", args{"path": "evil\x1b[31m\n\u202e", "content": ""})
	require.Equal(t, `Path 'evil\x1b[31m\n\u202e' is outside the allowed sandbox for writing; writable: out`, e.Message)
}

// gateFunc is a Gate of one function.
type gateFunc func(context.Context, access.Request) access.Decision

func (f gateFunc) Check(ctx context.Context, r access.Request) access.Decision { return f(ctx, r) }

// TestGateIsAskedAboutEveryPath: T01, M9, and copies need less than moves
// (W11, W12).
func TestGateIsAskedAboutEveryPath(t *testing.T) {
	var asked []access.Access
	w := newWorld(t, func(c *Config) {
		c.Gate = gateFunc(func(_ context.Context, r access.Request) access.Decision {
			asked = append(asked, access.Access{Action: r.Action, Resource: r.Resource})
			return access.Decision{Effect: access.Allow}
		})
	})
	uses := func(skill string, of access.Action, place string, then access.Action, other string) []access.Access {
		return []access.Access{{Action: access.ToolUse, Resource: skill}, {Action: of, Resource: place}, {Action: then, Resource: other}}
	}
	w.ok("copy_file", args{"source": "ok.txt", "destination": "out/copy"})
	require.Equal(t, uses("copy_file", access.FSRead, "ok.txt", access.FSWrite, "out/copy"), asked) // W11
	asked = nil
	w.ok("rename", args{"source": "out/copy", "destination": "out/moved"})
	require.Equal(t, uses("rename", access.FSMove, "out/copy", access.FSMove, "out/moved"), asked) // W12

	// A gate that allows everything does not widen what the rules refuse: it
	// is not even asked.
	asked = nil
	w.refused(CodeWriteNotAllowed, "rename", args{"source": "ok.txt", "destination": "out/x"}) // W12
	require.Empty(t, asked)
	w.refused(CodeWriteNotAllowed, "rename", args{"source": "out/moved", "destination": "x"})
}

// TestGateNarrows: the zero decision refuses, before anything is touched.
func TestGateNarrows(t *testing.T) {
	deny := access.Decision{}
	w := newWorld(t, func(c *Config) {
		c.Gate = gateFunc(func(context.Context, access.Request) access.Decision { return deny })
	})
	e := w.refused(CodePermissionDenied, "write_file", args{"path": "out/d/new", "content": "x"})
	require.Equal(t, "Path 'out/d/new' is outside the allowed sandbox\nwrite_file was refused.", e.Error())
	require.Empty(t, w.names("out"))
	deny = access.Decision{}.Refused(access.Code(CodePathBlocked), "ask the manager")
	e = w.refused(CodePathBlocked, "write_file", args{"path": "out/d/new", "content": "x"})
	require.Equal(t, "ask the manager", e.Hint)
	// Who was not told yes is not told that the path is outside.
	deny = access.Decision{Unconfirmed: true}.Refused("", "nobody is there")
	e = w.refused(CodePermissionDenied, "write_file", args{"path": "out/d/\nnew", "content": "x"})
	require.Equal(t, `write_file on 'out/d/\nnew' was not confirmed: nobody is there. Nothing was changed.`, e.Error())
	require.Empty(t, w.names("out"))
	deny = access.Decision{Unconfirmed: true, Code: access.Code(CodeTimeout)}
	e = w.refused(CodeTimeout, "mkdir", args{"path": "out/d"})
	require.Equal(t, "mkdir on 'out/d' was not confirmed. Nothing was changed.", e.Error())
	// Nor does a hint tell what lies beside.
	deny = access.Decision{Effect: access.Allow}
	e = w.refused(CodeNotFound, "copy_file", args{"source": "ok.tx", "destination": "out/x"})
	require.Empty(t, e.Hint)
	w.ok("write_file", args{"path": "out/d/new", "content": "x"})
}

// TestGateMayBlock: a gate that waits for somebody ends with ctx.
func TestGateMayBlock(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	w := newWorld(t, func(c *Config) {
		c.Gate = gateFunc(func(ctx context.Context, _ access.Request) access.Decision {
			cancel()
			<-ctx.Done()
			return access.Decision{}
		})
	})
	_, err := w.set.Call(ctx, "write_file", json.RawMessage(`{"path":"out/a","content":"x"}`))
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, CodeCancelled, e.Code)
	require.Empty(t, w.names("out"))
}

// TestHidden: K08, K01.
func TestHidden(t *testing.T) {
	w := newWorldWith(t, pathresolver.Config{WritePaths: []string{"."}, Hide: []string{"**/.env"}, Protect: []string{"keep"}})
	w.write(".env", "TOKEN=x")
	w.write("keep", "k")
	w.refused(CodePathBlocked, "copy_file", args{"source": ".env", "destination": "out/x"})
	w.refused(CodePathBlocked, "write_file", args{"path": ".env", "content": "x"})
	w.refused(CodePathBlocked, "write_file", args{"path": "keep", "content": "x"})
	w.refused(CodePathBlocked, "rename", args{"source": "keep", "destination": "out/x"})
	e := w.refused(CodeNotFound, "copy_file", args{"source": ".en", "destination": "out/x"})
	require.Empty(t, e.Hint, "a hint names what is hidden")

	// Whether a hidden file exists is not told: the rule is about the name (K09).
	w.write("out/.env", "TOKEN=x")
	for _, skill := range []string{"read_file", "file_info"} {
		there := w.refused(CodePathBlocked, skill, args{"path": "out/../out/.env"})
		require.NoError(t, os.Remove(w.path("out/.env")))
		missing := w.refused(CodePathBlocked, skill, args{"path": "out/../out/.env"})
		require.Equal(t, there, missing)
		w.write("out/.env", "TOKEN=x")
	}
	w.ok("copy_file", args{"source": "keep", "destination": "out/x"})
}

func TestDidYouMean(t *testing.T) {
	w := newWorld(t)
	w.write("config.yaml", "")
	w.write("out/deep.txt", "")
	e := w.refused(CodeNotFound, "copy_file", args{"source": "config.yml", "destination": "out/x"})
	require.Equal(t, "config.yml does not exist.\nDid you mean config.yaml?", e.Error())
	e = w.refused(CodeNotFound, "rename", args{"source": "out/dep.txt", "destination": "out/x"})
	require.Equal(t, "Did you mean out/deep.txt?", e.Hint)
	e = w.refused(CodeNotFound, "copy_file", args{"source": "zebra", "destination": "out/x"})
	require.Empty(t, e.Hint)
	e = w.refused(CodeUnknownSkill, "writ_file", nil)
	require.Equal(t, "Did you mean write_file?", e.Hint)
}

func TestOffUnlessEnabled(t *testing.T) {
	off := newWorld(t, func(c *Config) { c.Enable = nil })
	off.write("out/f", "x")
	off.refused(CodeUnknownSkill, "delete_file", args{"path": "out/f"})
	require.Equal(t, "x", off.read("out/f"))
	on := newWorld(t)
	on.write("out/f", "x")
	on.ok("delete_file", args{"path": "out/f"})
	require.Empty(t, on.names("out"))
}

// TestPanicIsAnError: a fault in a skill does not end the host.
func TestPanicIsAnError(t *testing.T) {
	w := newWorld(t)
	w.set.fs = nil
	_, err := w.set.Call(context.Background(), "mkdir", json.RawMessage(`{"path":"out/d"}`))
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, CodeIOError, e.Code)
}
