package fileskills

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuardRequire(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Guard = GuardRequire })
	w.write("out/f", "one\n")
	e := w.refused(CodeStaleFile, "write_file", args{"path": "out/f", "content": "two\n"})
	require.Equal(t, "out/f was not read before. Nothing was written.\nRead it first, then try again.", e.Error())
	require.Equal(t, "one\n", w.read("out/f"))

	w.ok("read_file", args{"path": "out/f"})
	w.write("out/f", "other\n") // somebody else
	e = w.refused(CodeStaleFile, "write_file", args{"path": "out/f", "content": "two\n"})
	require.Regexp(t, `^out/f changed since you read it \(hash [0-9a-f]{8}… now [0-9a-f]{8}…\)\.\nRead it again; nothing was written\.$`, e.Error())
	require.Equal(t, "other\n", w.read("out/f"))

	w.ok("read_file", args{"path": "out/f"})
	w.ok("write_file", args{"path": "out/f", "content": "two\n"})
	w.ok("write_file", args{"path": "out/f", "content": "three\n"}) // what was written is known
	w.ok("write_file", args{"path": "out/new", "content": "x"})     // nothing to read
}

func TestGuardWarn(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Guard = GuardWarn })
	w.write("out/f", "one\n")
	res := w.ok("write_file", args{"path": "out/f", "content": "two\n"})
	require.Contains(t, res.Text, "Warning: out/f was not read before.")
	require.NotContains(t, res.Text, "Nothing was written")
	require.Equal(t, "two\n", w.read("out/f"))
	off := newWorld(t, func(c *Config) { c.Guard = GuardOff })
	off.write("out/f", "one\n")
	require.NotContains(t, off.ok("write_file", args{"path": "out/f", "content": "two\n"}).Text, "Warning")
}

// What somebody else wrote since a file was read is not replaced unseen, without
// anything being asked for; a file that was not read may be. Without the guard the
// other's change is lost.
func TestGuardByDefault(t *testing.T) {
	w := newWorld(t)
	w.write("out/f", "one\n")
	w.write("out/src", "source\n")
	w.ok("write_file", args{"path": "out/f", "content": "unseen\n"}) // not read: no demand
	w.ok("read_file", args{"path": "out/f"})
	w.write("out/f", "other\n") // somebody else
	for _, dry := range []bool{false, true} {
		e := w.refused(CodeStaleFile, "write_file", args{"path": "out/f", "content": "mine\n", "dry_run": dry})
		require.Regexp(t, `^out/f changed since you read it \(hash [0-9a-f]{8}… now [0-9a-f]{8}…\)\.\nRead it again; nothing was written\.$`, e.Error())
	}
	w.refused(CodeStaleFile, "copy_file", args{"source": "out/src", "destination": "out/f", "overwrite": true})
	require.Equal(t, "other\n", w.read("out/f"))

	// An edit finds its text, or not; it does not make known what others wrote.
	w.ok("edit_file", args{"path": "out/f", "old_string": "other", "new_string": "another"})
	w.refused(CodeStaleFile, "write_file", args{"path": "out/f", "content": "mine\n"})
	w.ok("append_file", args{"path": "out/f", "content": "more"})
	w.refused(CodeStaleFile, "write_file", args{"path": "out/f", "content": "mine\n"})

	// How to go on: by reading, or by saying what is there.
	w.ok("read_file", args{"path": "out/f"})
	w.ok("write_file", args{"path": "out/f", "content": "mine\n"})
	w.write("out/f", "other\n")
	w.ok("write_file", args{"path": "out/f", "content": "mine\n", "expected_hash": hashOf([]byte("other\n"))})

	off := newWorld(t, func(c *Config) { c.Guard = GuardOff })
	off.write("out/f", "one\n")
	off.ok("read_file", args{"path": "out/f"})
	off.write("out/f", "other\n")
	off.ok("write_file", args{"path": "out/f", "content": "mine\n"})
	require.Equal(t, "mine\n", off.read("out/f"))
}

// What the client did itself is no change of somebody else's, whichever skill did it.
func TestGuardKnowsItsOwn(t *testing.T) {
	w := newWorld(t, withPatch(t), func(c *Config) { c.Enable = append(c.Enable, "delete_file") })
	w.write("out/src", "source\n")
	write := args{"path": "out/f", "content": "one\ntwo\n"}
	for _, own := range []struct {
		skill string
		in    args
	}{
		{"write_file", args{"path": "out/f", "content": "x\n"}},
		{"edit_file", args{"path": "out/f", "old_string": "one", "new_string": "1"}},
		{"edit_file_batch", args{"path": "out/f", "edits": []args{{"old_string": "one", "new_string": "1"}}}},
		{"regex_replace", args{"path": "out/f", "pattern": "o", "replacement": "0"}},
		{"append_file", args{"path": "out/f", "content": "three"}},
		{"copy_file", args{"source": "out/src", "destination": "out/f", "overwrite": true}},
		{"apply_patch", patchOf("*** Update File: out/f", "@@", "-one", "+1")},
		{"rename", args{"source": "out/src", "destination": "out/f", "overwrite": true}},
	} {
		w.ok("write_file", write)
		w.ok("read_file", args{"path": "out/f"})
		w.ok(own.skill, own.in)
		w.ok("write_file", write)
	}

	// What is known goes along with a file that is moved, and with its directory.
	w.ok("rename", args{"source": "out/f", "destination": "out/d/g"})
	w.ok("rename", args{"source": "out/d", "destination": "out/e"})
	w.ok("write_file", args{"path": "out/e/g", "content": "x\n"})
	w.ok("apply_patch", patchOf("*** Update File: out/e/g", "*** Move to: out/h", "@@", "-x", "+y"))
	w.ok("write_file", args{"path": "out/h", "content": "z\n"})
	w.write("out/h", "other\n")
	w.ok("rename", args{"source": "out/h", "destination": "out/i"})
	w.refused(CodeStaleFile, "write_file", args{"path": "out/i", "content": "x\n"})
	w.ok("delete_file", args{"path": "out/i"})
	w.write("out/i", "not the one that was read\n")
	w.ok("write_file", args{"path": "out/i", "content": "x\n"})
}

// Two sessions of one server are each other's somebody else.
func TestGuardTellsSessionsApart(t *testing.T) {
	w := newWorld(t)
	w.write("out/f", "one\n")
	in := func(session, skill string, a args) error {
		input, err := json.Marshal(a)
		require.NoError(t, err)
		_, err = w.set.Call(WithSession(background, session), skill, input)
		return err
	}
	require.NoError(t, in("a", "read_file", args{"path": "out/f"}))
	require.NoError(t, in("b", "read_file", args{"path": "out/f"}))
	require.NoError(t, in("b", "write_file", args{"path": "out/f", "content": "b's\n"}))
	require.ErrorContains(t, in("a", "write_file", args{"path": "out/f", "content": "a's\n"}), "changed since you read it")
	require.NoError(t, in("b", "write_file", args{"path": "out/f", "content": "b's own\n"}))
	require.NoError(t, in("a", "read_file", args{"path": "out/f"}))
	require.NoError(t, in("a", "write_file", args{"path": "out/f", "content": "a's\n"}))
}
