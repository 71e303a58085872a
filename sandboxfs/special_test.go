//go:build linux

package sandboxfs_test

import (
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// A socket made in the view is reached through the view; one of the host that
// lies in the project is not.
func TestSockets(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := beneathOut(t, o)
		inside, err := net.Listen("unix", f.in("out/inside"))
		require.NoError(t, err)
		defer inside.Close()
		conn, err := net.Dial("unix", f.in("out/inside"))
		require.NoError(t, err)
		conn.Close()

		host, err := net.Listen("unix", f.on("out/host"))
		require.NoError(t, err)
		defer host.Close()
		eventually(t, bound, func() bool { return exists(f.in("out/host")) }, "it is seen")
		_, err = net.Dial("unix", f.in("out/host"))
		require.ErrorIs(t, err, unix.ECONNREFUSED)
		conn, err = net.Dial("unix", f.on("out/host"))
		require.NoError(t, err, "on the host")
		conn.Close()
	})
}

// A FIFO passes data between two processes in the view, and is not the host's.
func TestFIFO(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := beneathOut(t, o)
		require.NoError(t, unix.Mkfifo(f.in("out/fifo"), 0o644))
		writer := exec.Command("/bin/sh", "-c", `echo through > "$1"`, "sh", f.in("out/fifo"))
		require.NoError(t, writer.Start())
		out, err := exec.Command("/bin/cat", f.in("out/fifo")).Output()
		require.NoError(t, err)
		require.Equal(t, "through\n", string(out))
		require.NoError(t, writer.Wait())
		info, err := os.Lstat(f.on("out/fifo"))
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&os.ModeNamedPipe)
	})
}

// Programs run from either mount.
func TestExecute(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := beneathOut(t, o, "src/")
		program, err := os.ReadFile("/bin/echo")
		require.NoError(t, err)
		for _, place := range []string{"src/echo", "out/echo"} {
			require.NoError(t, os.WriteFile(f.on(place), program, 0o755))
			// Not from this very process: it serves the view, and the Go
			// runtime stands still while a child of its own is in exec.
			out, err := exec.Command("sh", "-c", `exec "$0" hello`, f.in(place)).Output()
			require.NoError(t, err)
			require.Equal(t, "hello\n", string(out))
		}
	})
}
