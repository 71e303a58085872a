//go:build linux

package sandboxfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// BenchmarkView shows what one operation costs on the host, in the read-only
// mount and in a write mount. It is for working on this package: client and
// server share the process. `make bench` compares with other file systems.
func BenchmarkView(b *testing.B) {
	base := b.TempDir()
	root, mnt := filepath.Join(base, "root"), filepath.Join(base, "mnt")
	for _, dir := range []string{"src", "out"} {
		for i := range 1000 {
			path := fmt.Sprintf("%s/%s/d%d/f%d", root, dir, i%20, i)
			_ = os.MkdirAll(filepath.Dir(path), 0o755)
			_ = os.WriteFile(path, make([]byte, 2000), 0o644)
		}
	}
	_ = os.Mkdir(mnt, 0o755)
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"}})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	v, err := sandboxfs.New(r, sandboxfs.Options{Passthrough: true, DefaultPermissions: true})
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	if err := v.Mount(mnt); err != nil {
		b.Fatal(err)
	}
	for _, where := range []struct{ name, dir string }{
		{"host", root + "/src"}, {"readonly", mnt + "/src"}, {"write", mnt + "/out"},
	} {
		dir := where.dir
		buf := make([]byte, 4096)
		row := func(name string, op func(i int)) {
			b.Run(name+"/"+where.name, func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					op(i)
				}
			})
		}
		row("stat", func(int) { var st unix.Stat_t; _ = unix.Lstat(dir+"/d1/f1", &st) })
		row("missing", func(int) { var st unix.Stat_t; _ = unix.Lstat(dir+"/d1/nothing", &st) })
		row("open", func(int) { fd, _ := unix.Open(dir+"/d1/f1", unix.O_RDONLY, 0); unix.Close(fd) })
		row("read", func(int) {
			fd, _ := unix.Open(dir+"/d1/f1", unix.O_RDONLY, 0)
			_, _ = unix.Read(fd, buf)
			unix.Close(fd)
		})
		row("walk", func(int) {
			_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { _, _ = d.Info(); return err })
		})
		if where.name != "readonly" {
			row("create", func(i int) {
				fd, _ := unix.Open(fmt.Sprintf("%s/d2/new%d", dir, i), unix.O_CREAT|unix.O_WRONLY, 0o644)
				unix.Close(fd)
			})
			row("unlink", func(i int) { _ = unix.Unlink(fmt.Sprintf("%s/d2/new%d", dir, i)) })
			row("rename", func(i int) {
				_ = unix.Rename(fmt.Sprintf("%s/d4/f%d", dir, 4+i%2*20), fmt.Sprintf("%s/d4/f%d", dir, 24-i%2*20))
			})
			fd, _ := unix.Open(dir+"/d3/log", unix.O_CREAT|unix.O_WRONLY|unix.O_APPEND, 0o644)
			row("append512", func(int) { _, _ = unix.Write(fd, buf[:512]) })
			unix.Close(fd)
		}
	}
}

// BenchmarkChange shows how soon a change of the rules holds, by how many names the
// kernel remembers. When Hide returns nothing leads there and nothing is open.
func BenchmarkChange(b *testing.B) {
	for _, files := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprint("hide/", files), func(b *testing.B) {
			v, mnt, closed := benchView(b, files)
			defer closed()
			secret := filepath.Join(mnt, "src/d0/f0")
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				_ = filepath.WalkDir(mnt, func(path string, _ fs.DirEntry, err error) error {
					_, _ = os.Lstat(path)
					return err
				})
				f, err := os.Open(secret)
				if i == 0 && err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if _, err := v.Hide("", "src/d0/f0", fmt.Sprint("no such name ", i)); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if i == 0 {
					if _, err := f.ReadAt(make([]byte, 1), 0); err == nil {
						b.Fatal("it can still be read")
					}
					_ = f.Close()
				}
				b.StartTimer()
			}
		})
	}
	b.Run("allow", func(b *testing.B) {
		v, mnt, closed := benchView(b, 10_000)
		defer closed()
		for i := 0; b.Loop(); i++ {
			if err := v.Allow("", func(n int) error { return v.MountAdded(n, mnt) }, fmt.Sprint("src/d", i%100)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// benchView is a view of so many files in src, 100 in each directory.
func benchView(b *testing.B, files int) (v *sandboxfs.View, mnt string, closed func()) {
	b.Helper()
	base := b.TempDir()
	root, mnt := filepath.Join(base, "root"), filepath.Join(base, "mnt")
	_ = os.MkdirAll(filepath.Join(root, "out"), 0o755)
	_ = os.Mkdir(mnt, 0o755)
	for i := range files {
		path := fmt.Sprintf("%s/src/d%d/f%d", root, i/100, i)
		if i%100 == 0 {
			_ = os.MkdirAll(filepath.Dir(path), 0o755)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"out"}})
	if err != nil {
		b.Fatal(err)
	}
	if v, err = sandboxfs.New(r, sandboxfs.Options{Passthrough: true, DefaultPermissions: true}); err == nil {
		err = v.Mount(mnt)
	}
	if err != nil {
		b.Fatal(err)
	}
	return v, mnt, func() { _ = errors.Join(v.Close(), r.Close()) }
}
