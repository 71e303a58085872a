package sandboxfs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Writes to a slow disk do not each keep others waiting for the watchdog: only
// the first does.
func TestWriteBesideAnotherGivesTheLeadOn(t *testing.T) {
	led := make(chan struct{}, 1)
	l := &leader{t: newTransport(func(func()) { led <- struct{}{} })}
	p := &part{conn: &connection{lead: l}}
	p.opens.init()
	defer p.opens.closeAll()
	fd, err := unix.Open(filepath.Join(t.TempDir(), "file"), unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o644)
	require.NoError(t, err)
	h, _ := p.opens.add(&node{}, fd, true, func() int32 { return 0 })
	writeAt := func(off uint64) (turn uint64) {
		l.unique.Store(off)
		l.turn.Store(1)
		size, st := p.Write(nil, &fuse.WriteIn{InHeader: fuse.InHeader{Unique: off}, Fh: h.id, Offset: off}, []byte("data"))
		require.Equal(t, fuse.OK, st)
		require.EqualValues(t, 4, size)
		return l.turn.Load()
	}
	require.EqualValues(t, 1, writeAt(0), "alone it keeps the lead")
	p.writing.Add(1) // one that takes long
	require.EqualValues(t, 2, writeAt(4))
	<-led
	p.writing.Add(-1)
	require.EqualValues(t, 1, writeAt(8))
	require.Empty(t, led)
	content, err := os.ReadFile(fmt.Sprint("/proc/self/fd/", fd))
	require.NoError(t, err)
	require.Equal(t, "datadatadata", string(content))
}

// Reads from a file system that cannot say whether they wait for a disk keep
// the lead as long as those before took no time.
func TestReadsThatMayWait(t *testing.T) {
	var p pace
	require.False(t, p.begin())
	require.True(t, p.begin(), "beside one that is not done")
	p.end(0)
	p.end(longRead)
	require.False(t, p.begin())
	p.end(longRead + 1)
	for range waryFor {
		require.True(t, p.begin())
		p.end(0)
	}
	require.False(t, p.begin(), "is tried again")
	p.end(0)
}

// What is read from such a file system is what is there, and whether it is one
// the first read finds out.
func TestReadWithoutNowait(t *testing.T) {
	l := &leader{t: newTransport(func(func()) { require.Fail(t, "the lead was given on") })}
	p := &part{conn: &connection{lead: l}}
	file := filepath.Join("/dev/shm", fmt.Sprint("pinfold-test-", os.Getpid()))
	fd, err := unix.Open(file, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	require.NoError(t, err)
	require.NoError(t, os.Remove(file))
	defer unix.Close(fd)
	_, err = unix.Write(fd, []byte("content"))
	require.NoError(t, err)
	buf := make([]byte, 16)
	_, now := unix.Preadv2(fd, [][]byte{buf}, 0, unix.RWF_NOWAIT) // tmpfs cannot in Linux 6.18
	for off, want := range []string{"content", "ontent", "ntent"} {
		n, err := p.pread(&fuse.InHeader{}, fd, buf, int64(off))
		require.NoError(t, err)
		require.Equal(t, want, string(buf[:n]))
		require.Equal(t, now == unix.EOPNOTSUPP, p.pace.needed.Load())
	}
}
