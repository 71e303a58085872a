package mount

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestViewMounts(t *testing.T) {
	const mountinfo = `21 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw
50 21 0:40 / /m rw - fuse.pinfold pinfold rw
51 50 0:41 / /m/src rw - fuse.pinfold pinfold rw
52 21 0:42 / /mm rw - fuse.pinfold pinfold rw
53 21 0:43 / /m\040x rw shared:7 master:2 - fuse.pinfold pinfold rw
54 50 0:44 / /m/other rw - tmpfs tmpfs rw
55 21 0:45 / /b rw - fuse.bindfs bindfs rw
56 21 0:46 / /t rw - fuse.pinfold pinfold rw
57 56 0:47 / /t/in rw - fuse.pinfold pinfold rw
58 21 0:48 / /t rw - fuse.pinfold pinfold rw
short line
`
	for at, want := range map[string][]string{
		"/m":    {"/m", "/m/src"},
		"/mm":   {"/mm"},
		"/m x":  {"/m x"},
		"/t":    {"/t"}, // the topmost one alone
		"/b":    nil,    // not ours
		"/":     nil,
		"/none": nil,
	} {
		got, err := viewMounts(strings.NewReader(mountinfo), at)
		require.NoError(t, err)
		require.Equal(t, want, got, at)
	}
}
