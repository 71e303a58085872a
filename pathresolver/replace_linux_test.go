//go:build !portable

package pathresolver_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Mode, owner, extended attributes and ACLs outlive a replacement; what would
// let the new content run with others' rights does not.
func TestReplaceKeepsAttributes(t *testing.T) {
	_, root := scene(t, "out/f = old")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"out"}}, func(t *testing.T, r *pathresolver.Resolver) {
		f := filepath.Join(root, "out/f")
		require.NoError(t, unix.Setxattr(f, "user.note", []byte("kept"), 0))
		// user::rw- user:1234:rwx group::r-- mask::rwx other::---
		acl := "\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x07\x00\xd2\x04\x00\x00" +
			"\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x07\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff"
		require.NoError(t, unix.Setxattr(f, "system.posix_acl_access", []byte(acl), 0))
		if os.Getuid() == 0 {
			require.NoError(t, os.Chown(f, 1234, 5678))
		}
		require.NoError(t, os.Chmod(f, os.FileMode(0o751)|os.ModeSetuid|os.ModeSetgid))
		var before, after unix.Stat_t
		require.NoError(t, unix.Stat(f, &before))
		require.NotZero(t, before.Mode&unix.S_ISUID)
		require.NoError(t, put(r, "out/f", "new", pathresolver.ReplaceOptions{}))
		require.NoError(t, unix.Stat(f, &after))
		require.NotEqual(t, before.Ino, after.Ino)
		require.Equal(t, before.Mode&^(unix.S_ISUID|unix.S_ISGID), after.Mode)
		require.Equal(t, []uint32{before.Uid, before.Gid}, []uint32{after.Uid, after.Gid})
		buf := make([]byte, 100)
		n, err := unix.Getxattr(f, "user.note", buf)
		require.NoError(t, err)
		require.Equal(t, "kept", string(buf[:n]))
		n, err = unix.Getxattr(f, "system.posix_acl_access", buf)
		require.NoError(t, err)
		require.Contains(t, string(buf[:n]), "\xd2\x04\x00\x00")

		src, err := r.OpenRead("out/f")
		require.NoError(t, err)
		defer src.Close()
		require.NoError(t, put(r, "out/like", "new", pathresolver.ReplaceOptions{Like: src}))
		require.NoError(t, unix.Stat(filepath.Join(root, "out/like"), &before))
		require.Equal(t, after.Mode, before.Mode)
		require.Equal(t, after.Uid, before.Uid)
	})
}

// A name that a killed process left is taken away, though not by who does not
// write in that directory.
func TestReplaceSweeps(t *testing.T) {
	_, root := scene(t, "out/f = old", "out/.pinfold-new = left", ".pinfold-new = somebody's", "single = old")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"out", "single"}}, func(t *testing.T, r *pathresolver.Resolver) {
		tree(t, root, "out/.pinfold-new = left")
		require.NoError(t, put(r, "out/f", "new", pathresolver.ReplaceOptions{}))
		require.Equal(t, []string{"f"}, listed(t, root, "out"))
		tree(t, root, "out/.pinfold-new = left")
		w, err := r.Replace("out/f", pathresolver.ReplaceOptions{})
		require.NoError(t, err)
		require.Error(t, w.Commit(context.Background(), func(*pathresolver.File) error { return errors.New("called off") }))
		require.NoError(t, w.Close())
		require.Equal(t, []string{"f"}, listed(t, root, "out"))
		require.NoError(t, put(r, "single", "new", pathresolver.ReplaceOptions{}))
		require.Equal(t, "somebody's", content(t, root, ".pinfold-new"))
	})
}

// The directory is another by the time of the commit.
func TestReplaceDirectoryMoved(t *testing.T) {
	base, root := scene(t, "out/d/f = old")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"out"}}, func(t *testing.T, r *pathresolver.Resolver) {
		d := filepath.Join(root, "out/d")
		for _, to := range []string{filepath.Join(root, "src/d"), filepath.Join(base, "outside/d")} {
			w, err := r.Replace("out/d/f", pathresolver.ReplaceOptions{})
			require.NoError(t, err)
			_, err = w.Write([]byte("new"))
			require.NoError(t, err)
			require.NoError(t, os.Rename(d, to))
			denied(t, w.Commit(context.Background(), nil), pathresolver.RuleUnstable)
			require.NoError(t, os.Symlink("../src/d", d))
			denied(t, w.Commit(context.Background(), nil), pathresolver.RuleUnstable)
			require.NoError(t, w.Close())
			require.Equal(t, "old", content(t, to, "f"))
			require.Equal(t, []string{"f"}, listed(t, to))
			require.NoError(t, os.Remove(d))
			require.NoError(t, os.Rename(to, d))
		}
		require.NoError(t, put(r, "out/d/f", "old", pathresolver.ReplaceOptions{}))
	})
}

// What is no file is refused and does not hang, nor when it takes the
// place of one.
func TestReplaceSpecial(t *testing.T) {
	_, root := scene(t, "out/f = old")
	fifo := filepath.Join(root, "out/fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o644))
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"out"}}, func(t *testing.T, r *pathresolver.Resolver) {
		denied(t, put(r, "out/fifo", "x", pathresolver.ReplaceOptions{}), pathresolver.RuleSpecialFile)
		w, err := r.Replace("out/f", pathresolver.ReplaceOptions{})
		require.NoError(t, err)
		require.NoError(t, os.Rename(filepath.Join(root, "out/f"), filepath.Join(root, "out/g")))
		require.NoError(t, unix.Mkfifo(filepath.Join(root, "out/f"), 0o644))
		denied(t, w.Commit(context.Background(), nil), pathresolver.RuleSpecialFile)
		require.NoError(t, w.Close())
		require.NoError(t, os.Rename(filepath.Join(root, "out/g"), filepath.Join(root, "out/f")))
		require.NoError(t, put(r, "out/f", "old", pathresolver.ReplaceOptions{}))
	})
}

// Another process that holds the lock of the directory is waited for, until
// ctx ends.
func TestReplaceWaitsForTheLock(t *testing.T) {
	_, root := scene(t, "out/f = old")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"out"}}, func(t *testing.T, r *pathresolver.Resolver) {
		held, err := os.Open(filepath.Join(root, "out"))
		require.NoError(t, err)
		defer held.Close()
		require.NoError(t, unix.Flock(int(held.Fd()), unix.LOCK_EX))
		w, err := r.Replace("out/f", pathresolver.ReplaceOptions{})
		require.NoError(t, err)
		defer w.Close()
		_, err = w.Write([]byte("new"))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- w.Commit(ctx, nil) }()
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		require.Equal(t, "old", content(t, root, "out/f"))
		require.NoError(t, unix.Flock(int(held.Fd()), unix.LOCK_UN))
		require.NoError(t, w.Commit(context.Background(), nil))
		require.Equal(t, "new", content(t, root, "out/f"))
		tree(t, root, "out/f = old")
	})
}

// A hole is copied as a hole: 10 GiB in no time and no space.
func TestReplaceCopiesHoles(t *testing.T) {
	_, root := scene(t, "out/")
	const size = 10 << 30
	f, err := os.Create(filepath.Join(root, "sparse"))
	require.NoError(t, err)
	defer f.Close()
	for _, at := range []int64{0, size / 2, size - 5} {
		_, err = f.WriteAt([]byte("hello"), at)
		require.NoError(t, err)
	}
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"out"}}, func(t *testing.T, r *pathresolver.Resolver) {
		src, err := r.OpenRead("sparse")
		require.NoError(t, err)
		defer src.Close()
		w, err := r.Replace("out/sparse", pathresolver.ReplaceOptions{})
		require.NoError(t, err)
		defer w.Close()
		n, err := w.CopyFrom(context.Background(), src)
		require.NoError(t, err)
		require.EqualValues(t, size, n)
		require.NoError(t, w.Commit(context.Background(), nil))
		var st unix.Stat_t
		require.NoError(t, unix.Stat(filepath.Join(root, "out/sparse"), &st))
		require.EqualValues(t, size, st.Size)
		require.Less(t, st.Blocks, int64(1000))
		copied, err := os.Open(filepath.Join(root, "out/sparse"))
		require.NoError(t, err)
		defer copied.Close()
		for _, at := range []int64{0, size / 2, size - 5} {
			buf := make([]byte, 5)
			_, err = copied.ReadAt(buf, at)
			require.NoError(t, err)
			require.Equal(t, "hello", string(buf))
		}
		require.NoError(t, os.Remove(filepath.Join(root, "out/sparse")))
	})
}

// inChild runs a test in a process of its own, which may spoil itself: true in
// there.
func inChild(t *testing.T, variant string) bool {
	t.Helper()
	const env = "PINFOLD_TEST_CHILD"
	if os.Getenv(env) == variant {
		return true
	}
	if os.Getenv(env) != "" {
		return false
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), env+"="+variant)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: "+t.Name())
	return false
}

// A write in place that fails leaves the old content: here the limit on a
// file's size ends it, before or after the first byte was written.
func TestReplaceInPlaceFails(t *testing.T) {
	for _, variant := range []string{"early", "late"} {
		if !inChild(t, variant) {
			continue
		}
		if variant == "late" { // no room is asked for beforehand
			fail(t, unix.SYS_FALLOCATE, unix.EOPNOTSUPP, 0, 0)
		}
		_, root := scene(t, "single = old")
		signal.Ignore(syscall.SIGXFSZ)
		r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"single"}})
		require.NoError(t, err)
		defer r.Close()
		w, err := r.Replace("single", pathresolver.ReplaceOptions{})
		require.NoError(t, err)
		defer w.Close()
		_, err = w.Write([]byte(strings.Repeat("n", 10_000)))
		require.NoError(t, err)
		var limit unix.Rlimit
		require.NoError(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &limit))
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 8192, Max: limit.Max}))
		require.ErrorIs(t, w.Commit(context.Background(), nil), unix.EFBIG)
		require.Equal(t, "old", content(t, root, "single"))
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &limit))
		require.NoError(t, w.Commit(context.Background(), nil))
		require.Len(t, content(t, root, "single"), 10_000)
	}
}

// What a file system or kernel cannot do is done another way, with the same
// outcome.
func TestReplaceWithout(t *testing.T) {
	for variant, call := range map[string]struct {
		nr    uint32
		errno unix.Errno
		arg   int
		mask  uint32
	}{
		"O_TMPFILE":        {unix.SYS_OPENAT, unix.EOPNOTSUPP, 2, unix.O_TMPFILE},
		"CAP_DAC_READ":     {unix.SYS_LINKAT, unix.ENOENT, 4, unix.AT_EMPTY_PATH},
		"RENAME_NOREPLACE": {unix.SYS_RENAMEAT2, unix.EINVAL, 4, unix.RENAME_NOREPLACE},
		"flock":            {unix.SYS_FLOCK, unix.ENOLCK, 0, 0},
		"copy_file_range":  {unix.SYS_COPY_FILE_RANGE, unix.EXDEV, 0, 0},
	} {
		if !inChild(t, variant) {
			continue
		}
		fail(t, call.nr, call.errno, call.arg, call.mask)
		if variant == "RENAME_NOREPLACE" { // used for names only
			fail(t, unix.SYS_OPENAT, unix.EOPNOTSUPP, 2, unix.O_TMPFILE)
		}
		_, root := scene(t, "out/f = old", "single = old", "out/.pinfold-x = not ours")
		r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out", "single"}})
		require.NoError(t, err)
		defer r.Close()
		src, err := r.OpenRead("ok.txt")
		require.NoError(t, err)
		defer src.Close()
		w, err := r.Replace("out/copy", pathresolver.ReplaceOptions{})
		require.NoError(t, err)
		_, err = w.CopyFrom(context.Background(), src)
		require.NoError(t, err)
		require.NoError(t, w.Commit(context.Background(), nil))
		require.NoError(t, w.Close())
		require.Equal(t, "ok", content(t, root, "out/copy"))
		require.NoError(t, put(r, "out/f", "new", pathresolver.ReplaceOptions{}))
		require.NoError(t, put(r, "single", "new", pathresolver.ReplaceOptions{}))
		require.NoError(t, put(r, "out/n", "new", pathresolver.ReplaceOptions{MustBeNew: true}))
		require.ErrorIs(t, put(r, "out/n", "newer", pathresolver.ReplaceOptions{MustBeNew: true}), os.ErrExist)
		for _, path := range []string{"out/f", "out/n", "single"} {
			require.Equal(t, "new", content(t, root, path))
		}
		w, err = r.Replace("out/gone", pathresolver.ReplaceOptions{})
		require.NoError(t, err)
		_, err = w.Write([]byte("x"))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.Equal(t, []string{".pinfold-x", "copy", "f", "n"}, listed(t, root, "out"))
	}
}

// A file whose attributes cannot be carried over is written in place, and
// keeps them.
func TestReplaceKeepsWhatItMayNotCopy(t *testing.T) {
	if !inChild(t, "fsetxattr") {
		return
	}
	_, root := scene(t, "out/f = old")
	f := filepath.Join(root, "out/f")
	require.NoError(t, unix.Setxattr(f, "user.note", []byte("kept"), 0))
	before, err := os.Stat(f)
	require.NoError(t, err)
	fail(t, unix.SYS_FSETXATTR, unix.EPERM, 0, 0)
	for _, variant := range []string{"O_TMPFILE", "named"} {
		if variant == "named" {
			fail(t, unix.SYS_OPENAT, unix.EOPNOTSUPP, 2, unix.O_TMPFILE)
		}
		r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"}})
		require.NoError(t, err)
		require.NoError(t, put(r, "out/f", variant, pathresolver.ReplaceOptions{}))
		require.NoError(t, r.Close())
		require.Equal(t, variant, content(t, f))
		after, err := os.Stat(f)
		require.NoError(t, err)
		require.True(t, os.SameFile(before, after))
		require.Equal(t, []string{"f"}, listed(t, root, "out"))
	}
}

// Writing in place never goes to a file that has lost its name meanwhile.
func TestReplaceInPlaceOfAnother(t *testing.T) {
	_, root := scene(t, "single = old")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"single"}}, func(t *testing.T, r *pathresolver.Resolver) {
		w, err := r.Replace("single", pathresolver.ReplaceOptions{})
		require.NoError(t, err)
		_, err = w.Write([]byte("new"))
		require.NoError(t, err)
		tree(t, root, "other = another")
		require.NoError(t, os.Rename(filepath.Join(root, "other"), filepath.Join(root, "single")))
		denied(t, w.Commit(context.Background(), nil), pathresolver.RuleUnstable)
		require.NoError(t, w.Close())
		require.Equal(t, "another", content(t, root, "single"))
		require.NoError(t, put(r, "single", "new", pathresolver.ReplaceOptions{}))
		require.Equal(t, "new", content(t, root, "single"))
	})
}

// Whoever makes a directory of the name that Commit uses stops nobody.
func TestReplaceBesidesAStranger(t *testing.T) {
	_, root := scene(t, "out/f = old", "out/.pinfold-new/mine = x")
	modes(t, pathresolver.Config{Root: root, WritePaths: []string{"out"}}, func(t *testing.T, r *pathresolver.Resolver) {
		for _, text := range []string{"one", "two"} {
			require.NoError(t, put(r, "out/f", text, pathresolver.ReplaceOptions{}))
			data, err := os.ReadFile(filepath.Join(root, "out/f"))
			require.NoError(t, err)
			require.Equal(t, text, string(data))
		}
		entries, err := os.ReadDir(filepath.Join(root, "out"))
		require.NoError(t, err)
		require.Len(t, entries, 2, "nothing is left")
		require.FileExists(t, filepath.Join(root, "out/.pinfold-new/mine"))
	})
}
