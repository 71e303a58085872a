//go:build linux

package launcher

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// inProcess runs a command with Run in this very process.
func inProcess(t *testing.T, ctx context.Context, root string, command ...string) Result {
	t.Helper()
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"}})
	require.NoError(t, err)
	defer r.Close()
	me := sandboxfs.IDs{UID: uint32(os.Getuid()), GID: uint32(os.Getgid())}
	v, err := sandboxfs.New(r, sandboxfs.Options{Owner: me, SquashIDs: &me})
	require.NoError(t, err)
	in, feed, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	defer feed.Close() // only now: the run ends though its input does not
	out, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer out.Close()
	res, err := Run(ctx, Config{Resolver: r, View: v, Command: command, Stdin: in, Stdout: out, Stderr: out})
	require.NoError(t, err)
	require.NoError(t, v.Close())
	return res
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(list)
}

func TestRunsLeaveNothingInTheCaller(t *testing.T) {
	root, _ := project(t, os.Getuid())
	require.Zero(t, inProcess(t, context.Background(), root, "cat", "ok.txt").ExitCode)
	ignore := goleak.IgnoreCurrent()
	fds := descriptors(t)
	for range 20 {
		assert.Equal(t, 127, inProcess(t, context.Background(), root, "no-such-command").ExitCode)
		assert.Zero(t, inProcess(t, context.Background(), root, "cat", "ok.txt").ExitCode)
	}
	goleak.VerifyNone(t, ignore)
	assert.Equal(t, fds, descriptors(t))
	assert.Empty(t, mounts(t))
	assert.Empty(t, family(os.Getpid()), "no process is left")
}

func TestCancelEndsTheRun(t *testing.T) {
	root, _ := project(t, os.Getuid())
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(0, func() {
		for {
			if _, err := os.Stat(root + "/out/ready"); err == nil || ctx.Err() != nil {
				cancel()
				return
			}
		}
	})
	assert.Equal(t, 143, inProcess(t, ctx, root, "sh", "-c", "touch out/ready; exec sleep 1000").ExitCode)
}
