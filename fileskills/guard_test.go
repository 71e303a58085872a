package fileskills

import (
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
	off := newWorld(t)
	off.write("out/f", "one\n")
	require.NotContains(t, off.ok("write_file", args{"path": "out/f", "content": "two\n"}).Text, "Warning")
}
