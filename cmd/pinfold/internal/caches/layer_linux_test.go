package caches

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// someHost is a host whose home is a directory of the test's.
func someHost(t *testing.T) Host {
	home := t.TempDir()
	return Host{home, func(string) (string, bool) { return "", false }}
}

func planFor(t *testing.T, h Host, name string) Plan {
	plans, err := PlanFor(h, []string{name})
	require.NoError(t, err)
	return plans[0]
}

func TestHold(t *testing.T) {
	base, plan := filepath.Join(t.TempDir(), "caches"), planFor(t, someHost(t), "go")
	list, err := List(base)
	require.NoError(t, err)
	require.Empty(t, list)
	Tidy(base, time.Now())
	require.NoDirExists(t, base)

	first, err := Hold(base, "/project", plan)
	require.NoError(t, err)
	require.False(t, first.Temporary)
	require.Len(t, first.Shown, 2)
	require.Equal(t, plan.Parts[0].Path, first.Shown[0].Path)
	mark := make([]byte, 1)
	_, err = unix.Getxattr(first.Shown[0].Dir+"/upper/cache/vcs", "user.overlay.opaque", mark)
	require.NoError(t, err)
	require.Equal(t, "y", string(mark))

	second, err := Hold(base, "/project", plan)
	require.NoError(t, err)
	require.True(t, second.Temporary, "the upper layer of an overlay is one run's")
	require.NotEqual(t, first.Shown[0].Dir, second.Shown[0].Dir)
	other, err := Hold(base, "/other", plan)
	require.NoError(t, err)
	require.False(t, other.Temporary)
	list, err = List(base)
	require.NoError(t, err)
	require.Len(t, list, 3)
	for _, l := range list {
		require.True(t, l.Busy)
	}
	removed, err := Prune(base, func(Layer) bool { return true })
	require.NoError(t, err)
	require.Empty(t, removed, "all are in use")

	require.NoError(t, os.WriteFile(first.Shown[0].Dir+"/upper/kept", nil, 0o600))
	first.Close()
	second.Close()
	Tidy(base, time.Now())
	list, err = List(base)
	require.NoError(t, err)
	require.Len(t, list, 2, "what was thrown away")
	first, err = Hold(base, "/project", plan)
	require.NoError(t, err)
	require.False(t, first.Temporary)
	require.FileExists(t, first.Shown[0].Dir+"/upper/kept", "the next run finds it")
	first.Close()
	other.Close()
	removed, err = Prune(base, func(l Layer) bool { return l.Project == "/project" })
	require.NoError(t, err)
	require.Len(t, removed, 1)
	require.NoDirExists(t, first.Shown[0].Dir)
	require.DirExists(t, other.Shown[0].Dir)
}

// Runs that begin at once never share a layer.
func TestHoldAtOnce(t *testing.T) {
	base, plan := t.TempDir(), planFor(t, someHost(t), "npm")
	var mu sync.Mutex
	var runs sync.WaitGroup
	var held []*Held
	var failed error
	for range 4 {
		runs.Go(func() {
			h, err := Hold(base, "/project", plan)
			Tidy(base, time.Now())
			mu.Lock()
			defer mu.Unlock()
			held, failed = append(held, h), errors.Join(failed, err)
		})
	}
	runs.Wait()
	require.NoError(t, failed)
	dirs := map[string]bool{}
	for _, h := range held {
		dirs[h.Shown[0].Dir] = true
		require.DirExists(t, h.Shown[0].Dir, "Tidy removes none that is in use")
		h.Close()
	}
	require.Len(t, dirs, 4)
}

// A run that removed the whole cache, or put something else in the place of what is
// hidden, does not keep the next one from beginning, and gets to see nothing more.
func TestHidden(t *testing.T) {
	base, plan := t.TempDir(), planFor(t, someHost(t), "go")
	for name, spoil := range map[string]func(upper string) error{
		"removed": func(upper string) error { // as overlayfs does it
			if err := os.RemoveAll(upper + "/cache"); err != nil {
				return err
			}
			if os.Geteuid() != 0 {
				return os.WriteFile(upper+"/cache", nil, 0o600)
			}
			return unix.Mknod(upper+"/cache", unix.S_IFCHR, 0)
		},
		"link": func(upper string) error {
			if err := os.RemoveAll(upper + "/cache"); err != nil {
				return err
			}
			return os.Symlink("../../../victim", upper+"/cache")
		},
		"without the mark": func(upper string) error { return unix.Removexattr(upper+"/cache/vcs", "user.overlay.opaque") },
	} {
		victim := filepath.Join(base, "victim")
		require.NoError(t, os.MkdirAll(victim, 0o700))
		h, err := Hold(base, "/"+name, plan)
		require.NoError(t, err)
		require.NoError(t, spoil(h.Shown[0].Dir+"/upper"), name)
		h.Close()
		h, err = Hold(base, "/"+name, plan)
		require.NoError(t, err, name)
		require.NoDirExists(t, victim+"/vcs")
		if info, err := os.Lstat(h.Shown[0].Dir + "/upper/cache"); err == nil && info.IsDir() {
			_, err = unix.Getxattr(h.Shown[0].Dir+"/upper/cache/vcs", "user.overlay.opaque", nil)
			require.NoError(t, err, name)
		}
		h.Close()
	}
}

// Directories that are deep, locked or full of links are removed, and nothing that a link
// leads to.
func TestRemoveAnything(t *testing.T) {
	base, plan := t.TempDir(), planFor(t, someHost(t), "pip")
	victim := filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.MkdirAll(victim+"/dir", 0o755))
	h, err := Hold(base, "/project", plan)
	require.NoError(t, err)
	upper := h.Shown[0].Dir + "/upper"
	require.NoError(t, os.Symlink(victim, upper+"/link"))
	require.NoError(t, unix.Mkfifo(upper+"/fifo", 0o600))
	require.NoError(t, os.MkdirAll(upper+"/locked/in/it", 0o755))
	require.NoError(t, os.WriteFile(upper+"/locked/in/it/file", nil, 0o400))
	require.NoError(t, os.Symlink("..", upper+"/locked/in/up"))
	for _, dir := range []string{"/locked/in/it", "/locked/in", "/locked"} {
		require.NoError(t, os.Chmod(upper+dir, 0))
	}
	require.NoError(t, os.Chmod(h.Shown[0].Dir+"/work", 0))
	// Deeper than a path can be long.
	at, err := unix.Open(upper, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	name := strings.Repeat("d", 200)
	for range 100 {
		require.NoError(t, unix.Mkdirat(at, name, 0o700))
		next, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		require.NoError(t, err)
		unix.Close(at)
		at = next
	}
	unix.Close(at)
	h.Close()
	list, err := List(base)
	require.NoError(t, err)
	require.True(t, list[0].Large, "what cannot be counted counts as too much")
	removed, err := Prune(base, func(Layer) bool { return true })
	require.NoError(t, err)
	require.Len(t, removed, 1)
	left, err := os.ReadDir(base)
	require.NoError(t, err)
	require.Empty(t, left)
	require.DirExists(t, victim+"/dir")
}

// Layers are removed when they are old, and the oldest when all hold too much, but for
// those in use.
func TestTidy(t *testing.T) {
	base, plan := t.TempDir(), planFor(t, someHost(t), "cargo")
	now := time.Now()
	layer := func(project string, ago time.Duration, kib int) *Held {
		h, err := Hold(base, project, plan)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(h.Shown[0].Dir+"/upper/f", make([]byte, kib<<10), 0o600))
		at := now.Add(-ago)
		require.NoError(t, os.Chtimes(filepath.Join(base, idOf(project, "cargo"), aboutName), at, at))
		return h
	}
	left := func() (projects []string) {
		list, err := List(base)
		require.NoError(t, err)
		for _, l := range list {
			projects = append(projects, l.Project)
		}
		return projects
	}
	layer("/old", KeptFor+time.Hour, 1).Close()
	layer("/first", 3*time.Hour, 200).Close()
	busy := layer("/busy", 4*time.Hour, 200)
	layer("/last", time.Hour, 200).Close()
	tidy(base, now, 1<<20)
	require.Equal(t, []string{"/busy", "/first", "/last"}, left())
	tidy(base, now.Add(time.Minute), 500<<10)
	require.Equal(t, []string{"/busy", "/first", "/last"}, left(), "it was looked at a minute ago")
	tidy(base, now.Add(checkedEvery), 500<<10)
	require.Equal(t, []string{"/busy", "/last"}, left())
	busy.Close()
	tidy(base, now.Add(2*checkedEvery), 500<<10)
	require.Equal(t, []string{"/busy", "/last"}, left())
	tidy(base, now.Add(3*checkedEvery), 300<<10)
	require.Equal(t, []string{"/last"}, left())
}

// A directory that others could write is not used.
func TestHoldRefuses(t *testing.T) {
	base, plan := t.TempDir(), planFor(t, someHost(t), "go")
	path := filepath.Join(base, idOf("/project", "go"))
	require.NoError(t, os.Mkdir(path, 0o700))
	require.NoError(t, os.Chmod(path, 0o777))
	_, err := Hold(base, "/project", plan)
	require.ErrorContains(t, err, "not this user's alone")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink(t.TempDir(), path))
	_, err = Hold(base, "/project", plan)
	require.Error(t, err)
	require.NoError(t, os.Remove(path))
	h, err := Hold(base, "/project", plan)
	require.NoError(t, err)
	h.Close()
}
