package sandboxfs

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// One request of a listing reads little more of a large directory than it answers with:
// the next reads the rest.
func TestListingReadsWhatFits(t *testing.T) {
	dir := t.TempDir()
	const count = 2000
	for i := range count {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o644))
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	entries := func(room int, yield func(dirent) bool) {
		require.NoError(t, eachEntry(fd, 0, room, yield))
	}
	first := 0
	entries(4<<10, func(dirent) bool { first++; return first < 40 })
	rest := 0
	entries(4<<10, func(dirent) bool { rest++; return true })
	require.Greater(t, rest, count-4<<10/24)
	require.Less(t, rest, count)
}
