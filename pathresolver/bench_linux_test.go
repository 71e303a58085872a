//go:build !portable

package pathresolver_test

import (
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
