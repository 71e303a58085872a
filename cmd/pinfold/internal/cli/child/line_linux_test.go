package child

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A process that is started is this test again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "echo" {
		echo()
		return
	}
	os.Exit(m.Run())
}

// echo tells what it was given, and what it reads from what it inherited; then it waits
// for the end of whoever started it.
func echo() {
	var given string
	line, err := Parent(&given)
	if err != nil {
		_ = os.WriteFile("stranger", nil, 0o600)
		return
	}
	conn, err := Inherited()
	if err != nil {
		panic(err)
	}
	buf := make([]byte, 1)
	if _, err := conn.Read(buf); err != nil {
		panic(err)
	}
	if err := line.Tell(given + string(buf)); err != nil {
		panic(err)
	}
	if line.Hear(&given) == nil {
		panic("nothing was to come")
	}
}

// TestLine: both sides speak, and each hears when the other is gone. Nobody else has
// an end.
func TestLine(t *testing.T) {
	for name, end := range map[string]func(*Line, *os.Process) error{
		"closed": func(l *Line, _ *os.Process) error { return l.Close() },
		"killed": func(_ *Line, p *os.Process) error { return p.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			cmd, err := Command("echo")
			require.NoError(t, err)
			ours, theirs, err := Pair("test")
			require.NoError(t, err)
			cmd.ExtraFiles = []*os.File{theirs}
			line, err := Start(cmd, "\xff\x00")
			require.NoError(t, err)
			_, err = ours.Write([]byte("x"))
			require.NoError(t, err)
			var said string
			require.NoError(t, line.Hear(&said))
			require.Equal(t, "\xff\x00x", said, "as it was, byte for byte")
			require.NoError(t, end(line, cmd.Process))
			waited := cmd.Wait()
			require.Equal(t, name == "closed", waited == nil, "%v", waited)
			require.Error(t, line.Hear(&said))
			_, err = ours.Read(make([]byte, 1))
			require.Error(t, err, "the other half went with it")
			require.NoError(t, ours.Close())
		})
	}
}

// A process that was started by hand has no line.
func TestNoParent(t *testing.T) {
	cmd, err := Command("echo")
	require.NoError(t, err)
	cmd.Dir = t.TempDir()
	require.NoError(t, cmd.Run())
	require.FileExists(t, cmd.Dir+"/stranger")
}
