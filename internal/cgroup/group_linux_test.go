package cgroup

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// testPlace is a group of the test's own, in the one that this process is in; without
// version 2, or where that is somebody else's, there is none. The tests' leaves need no controllers,
// which machines with control groups of version 1 do not have in version 2.
func testPlace(t *testing.T) *place {
	t.Helper()
	dir, _, err := groupOf(os.Getpid())
	if err != nil {
		assert.ErrorContains(t, err, "version 2")
		return nil
	}
	own := filepath.Join(dir, "test-of-pinfold-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(own, 0o755); err != nil {
		_, err := delegated(Limits{Memory: 1 << 30})
		assert.Error(t, err, "it is told")
		return nil
	}
	p, err := open(own)
	require.NoError(t, err)
	t.Cleanup(func() {
		p.close()
		assert.NoError(t, os.Remove(own), "nothing is left in it")
	})
	return p
}

// waiting is a process that waits to be killed.
func waiting(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

// A process is put into a leaf, which ends and is removed by who keeps it.
func TestLeaf(t *testing.T) {
	p := testPlace(t)
	if p == nil {
		return
	}
	cmd := waiting(t)
	g, err := p.take(Limits{}, cmd.Process.Pid)
	require.NoError(t, err)
	dir, _, err := groupOf(cmd.Process.Pid)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(p.name, g.name), dir)

	p.sweep()
	assert.DirExists(t, dir, "somebody has it")

	at, kept, err := g.Place()
	require.NoError(t, err)
	defer func() { _ = at.Close() }()
	end := make(chan error, 1)
	go func() { end <- cmd.Wait() }()
	require.NoError(t, Keep(at, kept))
	assert.NoDirExists(t, dir)
	err = <-end
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, unix.SIGKILL, exit.Sys().(interface{ Signal() unix.Signal }).Signal())
	require.NoError(t, g.lock.Close())
}

// What is left of a run that was killed with its keeper is removed by the next one.
func TestSweep(t *testing.T) {
	p := testPlace(t)
	if p == nil {
		return
	}
	left := filepath.Join(p.name, prefix+"1-0")
	require.NoError(t, os.Mkdir(left, 0o755))
	g, err := p.leaf(Limits{})
	require.NoError(t, err)
	assert.NoDirExists(t, left)
	require.NoError(t, p.root.Remove(g.name))
	require.NoError(t, g.lock.Close())
}

// A bound that the kernel does not take leaves nothing.
func TestBoundRefused(t *testing.T) {
	p := testPlace(t)
	if p == nil {
		return
	}
	if has, err := p.has(subs, Limits{Memory: 1}); err == nil && has {
		return // it takes it
	}
	_, err := p.take(Limits{Memory: 1 << 30}, waiting(t).Process.Pid)
	require.Error(t, err)
	assert.True(t, errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission), "%v", err)
	assert.ErrorContains(t, err, "memory.max")
}
