//go:build linux

package sandboxfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// beneathOut mounts a view in which out may be written.
func beneathOut(t *testing.T, o sandboxfs.Options, specs ...string) *fixture {
	return mount(t, o, pathresolver.Config{WritePaths: []string{"out"}}, append(specs, "out/")...)
}

func TestTmpfileGetsAName(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := beneathOut(t, o)
		file, err := os.OpenFile(f.in("out"), unix.O_TMPFILE|os.O_RDWR, 0o640)
		require.NoError(t, err)
		defer file.Close()
		_, err = file.WriteString("content")
		require.NoError(t, err)
		proc := "/proc/self/fd/" + itoa(int(file.Fd()))
		require.Error(t, unix.Linkat(unix.AT_FDCWD, proc, unix.AT_FDCWD, f.in("stolen"), unix.AT_SYMLINK_FOLLOW))
		require.NoError(t, unix.Linkat(unix.AT_FDCWD, proc, unix.AT_FDCWD, f.in("out/named"), unix.AT_SYMLINK_FOLLOW))
		require.Equal(t, "content", f.read(f.on("out/named")))
		require.Equal(t, "content", f.read(f.in("out/named")))
		require.NoError(t, write(f.in("out/named"), "again"))
	})
}

func TestUnlinkedButOpen(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := beneathOut(t, o, "out/x=content", "out/d/")
		file, err := os.OpenFile(f.in("out/x"), os.O_RDWR, 0)
		require.NoError(t, err)
		defer file.Close()
		require.NoError(t, os.Remove(f.in("out/x")))
		data, err := io.ReadAll(file)
		require.NoError(t, err)
		require.Equal(t, "content", string(data))
		require.NoError(t, file.Truncate(3))
		require.NoError(t, file.Chmod(0o600))
		info, err := file.Stat()
		require.NoError(t, err)
		require.EqualValues(t, 3, info.Size())
		require.EqualValues(t, 0, info.Sys().(*syscall.Stat_t).Nlink)

		dir, err := os.Open(f.in("out/d"))
		require.NoError(t, err)
		defer dir.Close()
		require.NoError(t, os.Remove(f.in("out/d")))
		left, err := dir.Readdirnames(-1)
		require.True(t, err == nil || errors.Is(err, os.ErrNotExist), "%v", err)
		require.Empty(t, left)
		_, err = dir.Stat()
		require.NoError(t, err)
	})
}

func TestDataPaths(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := beneathOut(t, o)
		path := f.in("out/data")
		file, err := os.Create(path)
		require.NoError(t, err)
		defer file.Close()

		const far = 5 << 30 // beyond what 32 bits hold
		_, err = file.WriteAt([]byte("end"), far)
		require.NoError(t, err)
		hole, err := file.Seek(0, unix.SEEK_HOLE)
		require.NoError(t, err)
		require.Zero(t, hole)
		start, err := file.Seek(0, unix.SEEK_DATA)
		require.NoError(t, err)
		require.LessOrEqual(t, start, int64(far))
		require.Positive(t, start)
		buf := make([]byte, 3)
		_, err = file.ReadAt(buf, far)
		require.NoError(t, err)
		require.Equal(t, "end", string(buf))

		require.NoError(t, file.Truncate(8192))
		out, err := inChild("mmap", path).CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, "mapped", f.read(f.on("out/data"))[:6])

		other, err := os.Create(f.in("out/copy"))
		require.NoError(t, err)
		defer other.Close()
		_, err = file.Seek(0, io.SeekStart)
		require.NoError(t, err)
		n, err := unix.CopyFileRange(int(file.Fd()), nil, int(other.Fd()), nil, 8192, 0)
		require.NoError(t, err)
		require.Equal(t, 8192, n)
		require.Equal(t, "mapped", f.read(f.on("out/copy"))[:6])
		require.NoError(t, unix.Fallocate(int(other.Fd()), 0, 0, 1<<20))
		require.EqualValues(t, 1<<20, len(f.read(f.in("out/copy"))))
		require.NoError(t, other.Sync())

		direct, err := os.OpenFile(path, os.O_RDWR|unix.O_DIRECT, 0)
		require.NoError(t, err)
		defer direct.Close()
		page := unix.Getpagesize()
		aligned, err := unix.Mmap(-1, 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		require.NoError(t, err)
		copy(aligned, bytes.Repeat([]byte("d"), page))
		_, err = direct.WriteAt(aligned, 0)
		require.NoError(t, err)
		require.Equal(t, "dddd", f.read(f.on("out/data"))[:4])
		require.NoError(t, unix.Munmap(aligned))
	})
}

// Appending goes to the end as it is, also when the host has appended since.
func TestAppendWithHost(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := beneathOut(t, o)
		in, err := os.OpenFile(f.in("out/log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		require.NoError(t, err)
		defer in.Close()
		on, err := os.OpenFile(f.on("out/log"), os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		defer on.Close()
		for range 50 {
			_, err = in.WriteString("view\n")
			require.NoError(t, err)
			_, err = on.WriteString("host\n")
			require.NoError(t, err)
		}
		require.Equal(t, strings.Repeat("view\nhost\n", 50), f.read(f.on("out/log")))
	})
}

func TestNames(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := beneathOut(t, o)
		for _, name := range []string{"\xff\xfe not UTF-8", "new\nline", "\x1b[31mred", strings.Repeat("n", 255), "..data", "a\\b"} {
			require.NoError(t, write(f.in("out/"+name), name))
			require.Equal(t, name, f.read(f.in("out/"+name)))
			require.Contains(t, names(t, f.in("out")), name)
		}
		require.ErrorIs(t, write(f.in("out/"+strings.Repeat("n", 256)), ""), syscall.ENAMETOOLONG)
	})
}

func TestLargeDirectory(t *testing.T) {
	const files = 100_000
	f := beneathOut(t, arrangements["root"], "src/", "out/x=1")
	for _, place := range []string{"src", "out"} {
		for i := range files / 2 {
			fd, err := unix.Open(fmt.Sprintf("%s/%d", f.on(place), i), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
			require.NoError(t, err)
			unix.Close(fd)
		}
		want, got := names(t, f.on(place)), names(t, f.in(place))
		require.Equal(t, len(want), len(got))
		require.Equal(t, want, got)
	}
}

func TestXattrs(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := beneathOut(t, o, "out/x=1", "src/y=1")
		require.NoError(t, unix.Setxattr(f.in("out/x"), "user.k", []byte("v"), 0))
		buf := make([]byte, 100)
		n, err := unix.Getxattr(f.on("out/x"), "user.k", buf)
		require.NoError(t, err)
		require.Equal(t, "v", string(buf[:n]))
		require.ErrorIs(t, unix.Setxattr(f.in("out/x"), "user.k", []byte("w"), unix.XATTR_CREATE), syscall.EEXIST)
		require.NoError(t, unix.Removexattr(f.in("out/x"), "user.k"))
		require.NoError(t, unix.Setxattr(f.on("src/y"), "user.h", []byte("host"), 0))
		n, err = unix.Getxattr(f.in("src/y"), "user.h", buf)
		require.NoError(t, err)
		require.Equal(t, "host", string(buf[:n]))
		capability := []byte{1, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
		require.ErrorIs(t, unix.Setxattr(f.in("out/x"), "security.capability", capability, 0), syscall.EOPNOTSUPP)
		require.Error(t, unix.Setxattr(f.in("out/x"), "trusted.t", []byte("v"), 0))
		if isRoot() {
			require.NoError(t, unix.Setxattr(f.on("out/x"), "security.capability", capability, 0), "on the host")
		}
	})
}

// What is made belongs to the user that makes it, with the mode that was asked for.
func TestOwnership(t *testing.T) {
	if !isRoot() {
		f := beneathOut(t, arrangements["root"])
		require.NoError(t, write(f.in("out/mine"), ""))
		info, err := os.Stat(f.in("out/mine"))
		require.NoError(t, err)
		require.EqualValues(t, os.Geteuid(), info.Sys().(*syscall.Stat_t).Uid)
		return // there is no other user here
	}
	o := arrangements["root"]
	o.AllowOther = true
	f := beneathOut(t, o, "out/setgid/")
	require.NoError(t, os.Chmod(f.on("out"), 0o777))
	require.NoError(t, os.Chown(f.on("out/setgid"), 0, 4242))
	require.NoError(t, os.Chmod(f.on("out/setgid"), 0o777|os.ModeSetgid))
	open(t, f)
	script := `umask 000; cd "$1"; touch file; mkdir dir; ln -s x link; mkfifo fifo; cd setgid; touch file; mkdir dir`
	cmd := exec.Command("/bin/sh", "-c", script, "sh", f.in("out"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	for place, want := range map[string]string{
		"file": "65534:65534 666", "dir": "65534:65534 777", "fifo": "65534:65534 666", "link": "65534:65534 777",
		"setgid/file": "65534:4242 666", "setgid/dir": "65534:4242 2777",
	} {
		var st unix.Stat_t
		require.NoError(t, unix.Lstat(f.on("out/"+place), &st))
		require.Equal(t, want, fmt.Sprintf("%d:%d %o", st.Uid, st.Gid, st.Mode&0o7777), place)
	}
	require.NoError(t, write(f.in("out/mine"), "x"))
	cmd = exec.Command("/bin/sh", "-c", `echo no >> "$1"`, "sh", f.in("out/mine"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	require.Error(t, cmd.Run(), "permissions of the files hold")
}

// open lets other users reach the directories that a test made.
func open(t *testing.T, f *fixture) {
	t.Helper()
	base := f.root[:strings.LastIndexByte(f.root, '/')]
	require.NoError(t, os.Chmod(base, 0o755))
	require.NoError(t, os.Chmod(base[:strings.LastIndexByte(base, '/')], 0o755))
}

// Changing a file clears its set-user-id bit, as on any file system.
func TestPrivilegeBitsGo(t *testing.T) {
	if !isRoot() {
		return // nobody else is here to write the file
	}
	o := arrangements["root"]
	for _, passthrough := range []bool{true, false} {
		o.AllowOther, o.Passthrough = true, passthrough
		f := beneathOut(t, o, "out/tool=#!/bin/true\n")
		open(t, f)
		require.NoError(t, os.Chown(f.on("out/tool"), 65534, 65534))
		require.NoError(t, os.Chmod(f.on("out/tool"), 0o755|os.ModeSetuid|os.ModeSetgid))
		cmd := exec.Command("/bin/sh", "-c", `echo x >> "$1"`, "sh", f.in("out/tool"))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		info, err := os.Stat(f.on("out/tool"))
		require.NoError(t, err)
		require.Zero(t, info.Mode()&(os.ModeSetuid|os.ModeSetgid), "passthrough %v", passthrough)
	}
}

// access(2) carries the verdict, but for the root arrangement, where the kernel
// answers by the mode of a file.
func TestAccess(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}, Protect: []string{"out/keep"}},
			"src/x=1", "out/keep=1", "out/x=1")
		verdicts := map[string]error{"src/x": syscall.EROFS, "src": syscall.EROFS, "out/keep": syscall.EROFS, "out/x": nil, "out": nil}
		if o.DefaultPermissions {
			verdicts["out/keep"] = nil
		}
		for place, want := range verdicts {
			require.Equal(t, want, unix.Access(f.in(place), unix.W_OK), place)
			require.NoError(t, unix.Access(f.in(place), unix.R_OK), place)
		}
		require.ErrorIs(t, unix.Access(f.in("src/x"), unix.X_OK), syscall.EACCES)
		require.ErrorIs(t, write(f.in("out/keep"), ""), syscall.EROFS)
	})
}
