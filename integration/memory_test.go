package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/ops"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// The tree of TestMillion, and what a view may need for it.
const (
	walkedShort, walkedLong = 20_000, 1_000_000
	perDir                  = 1_000
	bytesPerFile            = 250     // of heap, while the kernel knows the file
	nearTheStart            = 4 << 20 // bytes of heap that may stay
	forgotten               = time.Minute
)

// TestMillion walks a large tree through a view, has the kernel forget it, and
// looks at the server's heap: before, full, after.
func TestMillion(t *testing.T) {
	if !isRoot {
		return // dropping the kernel's caches is root's
	}
	n := walkedShort
	if long {
		n = walkedLong
	}
	s := newSite(t, 0, true)
	for i := 0; i < n; i += perDir {
		dir := filepath.Join(s.root, strconv.Itoa(i))
		require.NoError(t, os.Mkdir(dir, 0o755))
		for j := range perDir {
			f, err := os.Create(filepath.Join(dir, strconv.Itoa(j)))
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}
	}
	for name, policy := range map[string][]string{"read-only": nil, "writable": {"-w", "."}} {
		t.Run(name, func(t *testing.T) { walkOnce(t, s, name, policy, n) })
	}
}

func walkOnce(t *testing.T, s *site, name string, policy []string, n int) {
	at := tempDir(t, 0)
	server, err := serveView(t, 0, ops.ViewConfig{Dir: at, Config: config(s, policy, modes[0])})
	require.NoError(t, err)
	before, _ := heapOf(t, server)
	out, err := exec.Command(insiderPath, "walk", at).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, fmt.Sprintln(n), string(out))
	full, nodes := heapOf(t, server)
	require.NoError(t, os.WriteFile("/proc/sys/vm/drop_caches", []byte("2"), 0o200))
	// The kernel's FORGETs are a queue, which the server works off.
	after, left := heapOf(t, server)
	for end := time.Now().Add(forgotten); after >= before+nearTheStart && time.Now().Before(end); {
		after, left = heapOf(t, server)
	}
	fmt.Printf("[table] walk of %d files, %s: heap %d KiB before, %d KiB with %d nodes (%d B each), %d KiB with %d after dropping caches\n",
		n, name, before>>10, full>>10, nodes, (full-min(before, full))/uint64(max(nodes, 1)), after>>10, left)
	require.Greater(t, nodes, n/2, "the kernel did not keep them: nothing was measured")
	require.Less(t, full, before+nearTheStart+uint64(nodes)*bytesPerFile)
	require.Less(t, after, before+nearTheStart)
}

// heapOf asks a server for its heap and its nodes.
func heapOf(t *testing.T, server *peer) (heap uint64, nodes int) {
	t.Helper()
	_, err := fmt.Fprintln(server.in, `"heap"`)
	require.NoError(t, err)
	_, err = fmt.Fscanln(server.out, &heap, &nodes)
	require.NoError(t, err, server.stderr.String())
	return heap, nodes
}

const (
	cycles = 100
	settle = 10 // cycles after which everything that is made once is there
)

// TestMountCycles mounts and unmounts a view many times: no descriptor,
// goroutine, mount or memory grows.
func TestMountCycles(t *testing.T) {
	if !isRoot {
		return // mount(2) is root's; fusermount3 is tried by the surface mount-user
	}
	s := newSite(t, 0, true)
	require.NoError(t, os.Mkdir(s.root+"/out", 0o755))
	require.NoError(t, os.WriteFile(s.root+"/f", []byte("f"), 0o644))
	at := tempDir(t, 0)
	var start [4]int
	for i := range cycles {
		if i == settle {
			start = resources(t, at)
		}
		mountOnce(t, s, at)
	}
	end := resources(t, at)
	fmt.Printf("[table] %d mounts and unmounts: descriptors %d to %d, goroutines %d to %d, mounts %d to %d, heap %d to %d KiB\n",
		cycles-settle, start[0], end[0], start[1], end[1], start[2], end[2], start[3], end[3])
	require.Equal(t, start[:3], end[:3])
	require.Less(t, end[3], start[3]+1024, "KiB of heap")
}

func mountOnce(t *testing.T, s *site, at string) {
	r, err := pathresolver.New(pathresolver.Config{Root: s.root, WritePaths: []string{"out"}})
	require.NoError(t, err)
	v, err := sandboxfs.New(r, sandboxfs.Options{Passthrough: true, DefaultPermissions: true})
	require.NoError(t, err)
	require.NoError(t, v.Mount(at))
	cmd := exec.Command("sh", "-c", "cat f && cp f out/f && ! cp f g && ls")
	cmd.Dir = at
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, "ff\nout\n", string(out))
	lazily, err := v.Unmount()
	require.NoError(t, err)
	require.False(t, lazily)
	require.NoError(t, v.Close())
	require.NoError(t, r.Close())
}

// resources are the descriptors, goroutines, mounts at a place and KiB of heap
// of this process.
func resources(t *testing.T, at string) [4]int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return [4]int{len(fds), runtime.NumGoroutine(), len(mountsBeneath(t, filepath.Dir(at))), int(m.HeapAlloc >> 10)}
}
