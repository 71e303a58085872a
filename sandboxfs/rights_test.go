//go:build linux

package sandboxfs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// An unprivileged view gives root what root without capabilities and groups
// has: nothing of what other users keep to themselves.
func TestUnprivileged(t *testing.T) {
	if !isRoot() {
		return // there is no other user
	}
	const other, shared = 65534, 4
	groups, err := unix.Getgroups()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Setgroups(groups)) })
	require.NoError(t, syscall.Setgroups([]int{shared})) // which programs in the view do not have
	for name, o := range map[string]sandboxfs.Options{
		"guarded": {Passthrough: true, Unprivileged: true}, "unguarded": {Passthrough: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}},
				"src/secret=1", "src/private/x=1", "src/shared=1",
				"out/theirs=1", "out/shared=1", "out/theirs.d/", "out/secret=1", "out/private/x=1", "out/mine=1")
			for place, mode := range map[string]os.FileMode{
				"src/secret": 0o600, "src/private": 0o700,
				"out/theirs": 0o644, "out/theirs.d": 0o755, "out/secret": 0o600, "out/private": 0o700,
			} {
				require.NoError(t, os.Chown(f.on(place), other, other))
				require.NoError(t, os.Chmod(f.on(place), mode))
			}
			for _, place := range []string{"src/shared", "out/shared"} {
				require.NoError(t, os.Chown(f.on(place), other, shared))
				require.NoError(t, os.Chmod(f.on(place), 0o660))
			}
			read := func(place string) error { _, err := os.ReadFile(f.in(place)); return err }
			enter := func(place string) error { _, err := os.ReadDir(f.in(place)); return err }
			for what, err := range map[string]error{
				"read, read-only mount":  read("src/secret"),
				"enter, read-only mount": enter("src/private"),
				"pass, read-only mount":  read("src/private/x"),
				"access":                 unix.Access(f.in("src/secret"), unix.R_OK),
				"read":                   read("out/secret"),
				"enter":                  enter("out/private"),
				"pass":                   read("out/private/x"),
				"group, read-only mount": read("src/shared"),
				"group":                  read("out/shared"),
				"group, write":           write(f.in("out/shared"), "2"),
				"write":                  write(f.in("out/theirs"), "2"),
				"create":                 write(f.in("out/private/new"), "2"),
				"create as of a group":   inGroup(other, func() error { return write(f.in("out/theirs.d/new"), "2") }),
				"remove":                 os.Remove(f.in("out/private/x")),
				"chmod":                  os.Chmod(f.in("out/theirs"), 0o666),
				"chown":                  os.Chown(f.in("out/mine"), other, other),
			} {
				switch {
				case name == "unguarded":
					require.NoError(t, err, what)
				case what == "chmod" || what == "chown":
					require.ErrorIs(t, err, syscall.EPERM, what)
				default:
					require.ErrorIs(t, err, syscall.EACCES, what)
				}
			}
		})
	}
	eventually(t, bound, func() bool { return groupsOfThreads(t) == "4" }, "no other thread is without its groups")
	r, err := pathresolver.New(pathresolver.Config{Root: t.TempDir()})
	require.NoError(t, err)
	defer r.Close()
	_, err = sandboxfs.New(r, sandboxfs.Options{Unprivileged: true, AllowOther: true})
	require.ErrorContains(t, err, "excludes")
	_, err = sandboxfs.New(r, sandboxfs.Options{Unprivileged: true, Owner: sandboxfs.IDs{UID: other}})
	require.ErrorContains(t, err, "must be the Owner", "who would have root's rights")
	v, err := sandboxfs.New(r, sandboxfs.Options{Unprivileged: true})
	require.NoError(t, err)
	require.NoError(t, v.Close())
}

// inGroup does it on a thread whose files get another group.
func inGroup(gid int, do func() error) error {
	return onThread(func() error {
		_, err := unix.SetfsgidRetGid(gid)
		return errors.Join(err, do())
	})
}

// asCommand does it on a thread without capabilities.
func asCommand(do func() error) error {
	return onThread(func() error {
		var none [2]unix.CapUserData
		err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
		return errors.Join(err, do())
	})
}

func onThread(do func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		result <- do()
	}()
	return <-result
}

// groupsOfThreads are the groups of all threads, each list once.
func groupsOfThreads(t *testing.T) string {
	tasks, err := filepath.Glob("/proc/self/task/*/status")
	require.NoError(t, err)
	var all []string
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // has ended
		}
		for line := range strings.Lines(string(text)) {
			if groups, ok := strings.CutPrefix(line, "Groups:"); ok {
				all = append(all, strings.TrimSpace(groups))
			}
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "; ")
}

// Root without capabilities may write a set-user-id file of somebody else's if
// its mode says so, and the bits are gone after.
func TestUnprivilegedSetUserID(t *testing.T) {
	if !isRoot() {
		return // there is no other user
	}
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, "out/")
		for name, change := range map[string]func(path string) error{
			"write":    func(path string) error { return write(path, "new") },
			"truncate": func(path string) error { return os.Truncate(path, 1) },
			"append": func(path string) error {
				file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
				if err != nil {
					return err
				}
				_, err = file.WriteString("more")
				return errors.Join(err, file.Close())
			},
		} {
			plant(t, f.root, "out/"+name+"=content")
			require.NoError(t, os.Chown(f.on("out/"+name), 65534, 65534))
			require.NoError(t, os.Chmod(f.on("out/"+name), 0o777|os.ModeSetuid|os.ModeSetgid))
			require.NoError(t, asCommand(func() error { return change(f.in("out/" + name)) }), name)
			require.NotEqual(t, "content", f.read(f.on("out/"+name)), name)
			info, err := os.Stat(f.on("out/" + name))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o777), info.Mode(), name)
		}
	})
}

// Root in the view is told of by rules of the view what it could do with its
// capabilities and may not: change what belongs to others, and give files away.
func TestTellsWhatRootLacks(t *testing.T) {
	if !isRoot() {
		return // it lacks nothing
	}
	const other = 65534
	for name, o := range map[string]sandboxfs.Options{"run": {Unprivileged: true}, "root": {}} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var told []string
			o.OnRefusal = func(r sandboxfs.Refusal) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, fmt.Sprintf("%s %s %s %v", r.Op, r.Place, r.Rule, r.Errno))
			}
			f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}},
				"out/theirs=1", "out/private=1", "out/d/x=1", "out/d/y=1", "out/d/z=1", "out/mine=1", "out/locked=1")
			for place, mode := range map[string]os.FileMode{"out/theirs": 0o644, "out/private": 0o600, "out/d": 0o755} {
				require.NoError(t, os.Chown(f.on(place), other, other))
				require.NoError(t, os.Chmod(f.on(place), mode))
			}
			require.NoError(t, os.Chmod(f.on("out/locked"), 0o444))
			for _, do := range []func() error{
				func() error { return write(f.in("out/theirs"), "2") },
				func() error { return os.Truncate(f.in("out/theirs"), 0) },
				func() error { return os.Chmod(f.in("out/theirs"), 0o666) },
				func() error { return os.Chtimes(f.in("out/theirs"), time.Unix(1, 0), time.Unix(1, 0)) },
				func() error { _, err := os.ReadFile(f.in("out/private")); return err },
				func() error { return write(f.in("out/d/new"), "2") },
				func() error { return os.Mkdir(f.in("out/d/dir"), 0o755) },
				func() error { return os.Link(f.in("out/mine"), f.in("out/d/link")) },
				func() error { return os.Remove(f.in("out/d/x")) },
				func() error { return os.Rename(f.in("out/d/y"), f.in("out/d/y2")) },
				func() error { return os.Rename(f.in("out/d/z"), f.in("out/z")) },
				func() error { return os.Chown(f.in("out/mine"), other, other) },
				func() error { return os.Chown(f.in("out/mine"), -1, other) },
				// nothing that root lacks
				func() error { _, err := os.ReadFile(f.in("out/theirs")); return err },
				func() error { return os.Chown(f.in("out/mine"), 0, 0) },
				func() error { return write(f.in("out/locked"), "2") },
				func() error { return os.Chmod(f.in("out/mine"), 0o755|os.ModeSetuid) },
				func() error { return os.Remove(f.in("out/d/none")) },
			} {
				_ = do() // TestUnprivileged has what comes of it
			}
			require.NoError(t, f.v.Close())
			want := []string(nil)
			if name == "run" {
				want = []string{
					"write out/theirs not_owner permission denied",
					"write out/theirs not_owner permission denied",
					"meta out/theirs not_owner operation not permitted",
					"meta out/theirs not_owner operation not permitted",
					"read out/private not_owner permission denied",
					"create out/d/new not_owner permission denied",
					"create out/d/dir not_owner permission denied",
					"link out/d/link not_owner permission denied",
					"delete out/d/x not_owner permission denied",
					"rename out/d/y not_owner permission denied",
					"rename out/d/z not_owner permission denied",
					"meta out/mine chown operation not permitted",
					"meta out/mine chown operation not permitted",
				}
			}
			require.Equal(t, want, told)
		})
	}
}
