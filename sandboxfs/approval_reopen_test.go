//go:build linux

package sandboxfs_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// D40, V02: a grant to write and to remove is none to read, also once the file has
// no name any more that the rules could be asked about.
func TestLeaveToWriteIsNoneToRead(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		o.AskWait = noLimit
		f, d := withAsker(t, o, "out/key=SECRET")
		d.remember()
		d.grant(access.Access{Action: access.FSWrite, Resource: "out/key"}, access.Access{Action: access.FSDelete, Resource: "out/key"})
		written, err := os.OpenFile(f.in("out/key"), os.O_WRONLY, 0)
		require.NoError(t, err)
		defer func() { require.NoError(t, written.Close()) }()
		require.NoError(t, os.Remove(f.in("out/key")))
		again := fmt.Sprintf("/proc/self/fd/%d", written.Fd())
		for _, flags := range []int{os.O_RDONLY, os.O_RDWR} {
			got, err := os.OpenFile(again, flags, 0)
			if err == nil {
				require.NoError(t, got.Close())
			}
			require.ErrorIs(t, err, syscall.ESTALE, "flags %x", flags)
		}
		got, err := os.OpenFile(again, os.O_WRONLY, 0) // what it has, it has still
		require.NoError(t, err)
		require.NoError(t, got.Close())
	})
}
