//go:build !portable

package pathresolver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// The quick look while working on this package; `make bench` compares with
// the alternatives in one interleaved run.
func BenchmarkOpenDepth5(b *testing.B) {
	root := b.TempDir()
	rel := strings.Repeat("d/", 4) + "f"
	if err := os.MkdirAll(filepath.Join(root, filepath.Dir(rel)), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, rel), nil, 0o644); err != nil {
		b.Fatal(err)
	}
	r, err := pathresolver.New(pathresolver.Config{Root: root, WritePaths: []string{"d"}})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for name, flag := range map[string]int{"read": os.O_RDONLY, "write": os.O_WRONLY} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fd, err := r.OpenFD(rel, flag, 0)
				if err != nil {
					b.Fatal(err)
				}
				unix.Close(fd)
			}
		})
	}
	b.Run("file", func(b *testing.B) {
		for b.Loop() {
			f, err := r.Open(rel)
			if err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
	b.Run("os.Open", func(b *testing.B) {
		for b.Loop() {
			f, err := os.Open(filepath.Join(root, rel))
			if err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
	b.Run("stat", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.Lstat(rel); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("os.Lstat", func(b *testing.B) {
		for b.Loop() {
			if _, err := os.Lstat(filepath.Join(root, rel)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("refusal", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.OpenFD("../x", os.O_RDONLY, 0); err == nil {
				b.Fatal("allowed")
			}
		}
	})
}

// BenchmarkOpenLinks: what rules about reading cost a path of five links.
func BenchmarkOpenLinks(b *testing.B) {
	base := b.TempDir()
	at, path := base, ""
	for i := range 5 {
		real := filepath.Join(at, fmt.Sprintf("r%d", i))
		if err := os.Mkdir(real, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.Symlink(fmt.Sprintf("r%d", i), filepath.Join(at, fmt.Sprintf("l%d", i))); err != nil {
			b.Fatal(err)
		}
		at, path = real, filepath.Join(path, fmt.Sprintf("l%d", i))
	}
	if err := os.WriteFile(filepath.Join(at, "f"), nil, 0o644); err != nil {
		b.Fatal(err)
	}
	path = filepath.Join(path, "f")
	root, err := os.OpenRoot(base)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	for name, hide := range map[string][]string{"plain": nil, "hide": {"**/.env", "secret/**"}} {
		r, err := pathresolver.New(pathresolver.Config{Root: base, Hide: hide})
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				fd, err := r.OpenFD(path, os.O_RDONLY, 0)
				if err != nil {
					b.Fatal(err)
				}
				unix.Close(fd)
			}
		})
	}
	b.Run("os.Root", func(b *testing.B) {
		for b.Loop() {
			f, err := root.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
}
