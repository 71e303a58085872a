package fileskills

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// benchTree is a project of 20,000 files in 400 directories, two levels deep.
func benchTree(b *testing.B) (root string, set *Set) {
	b.Helper()
	root, set = benchSet(b)
	line := "func handle(w http.ResponseWriter, r *http.Request) { return nil } // some text\n"
	for d := range 400 {
		dir := filepath.Join(root, fmt.Sprintf("pkg%02d/sub%03d", d%20, d))
		require.NoError(b, os.MkdirAll(dir, 0o755))
		for f := range 50 {
			ext := ".go"
			if f%5 == 0 {
				ext = ".md"
			}
			text := strings.Repeat(line, 30)
			if d%40 == 0 && f == 1 {
				text += "a needle in a haystack\n"
			}
			require.NoError(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%02d%s", f, ext)), []byte(text), 0o644))
		}
	}
	return root, set
}

// benchSet is a set over an empty directory.
func benchSet(b *testing.B) (root string, set *Set) {
	b.Helper()
	root = b.TempDir()
	return root, setOver(b, root)
}

// setOver is a set that may write nothing.
func setOver(t testing.TB, root string) *Set {
	t.Helper()
	r, err := pathresolver.New(pathresolver.Config{Root: root})
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	set, err := New(Config{Resolver: r})
	require.NoError(t, err)
	return set
}

func benchCall(b *testing.B, set *Set, skill string, input any) {
	raw, err := json.Marshal(input)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := set.Call(context.Background(), skill, raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGlob20000(b *testing.B) {
	root, set := benchTree(b)
	b.Run("skill", func(b *testing.B) { benchCall(b, set, "glob", args{"pattern": "**/*.go"}) })
	require.NoError(b, os.WriteFile(filepath.Join(root, ".gitignore"), []byte("node_modules/\n*.log\n/dist\n*.tmp\nbuild/**/out\n!keep.log\n*.o\n*.a\n.cache\nvendor/\n"), 0o644))
	b.Run("skill-gitignore", func(b *testing.B) { benchCall(b, set, "glob", args{"pattern": "**/*.go"}) })
	b.Run("walkdir", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			_ = filepath.WalkDir(root, func(_ string, d fs.DirEntry, _ error) error {
				if strings.HasSuffix(d.Name(), ".go") {
					n++
				}
				return nil
			})
			require.Equal(b, 16000, n)
		}
	})
}

func BenchmarkGrep20000(b *testing.B) {
	root, set := benchTree(b)
	for name, pattern := range map[string]string{
		"literal": "needle", "regexp": `ne+dle in \w+`, "noprefix": `[a-z]+dle in a h\w+`, "nothing": `zzz\d+`,
		"class": `[0-9]{3}-[0-9]{4}`,
	} {
		b.Run("skill-"+name, func(b *testing.B) { benchCall(b, set, "grep", args{"pattern": pattern}) })
		b.Run("naive-"+name, func(b *testing.B) {
			b.ReportAllocs()
			re := regexp.MustCompile(pattern)
			for b.Loop() {
				_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, _ error) error {
					if d.Type().IsRegular() {
						if data, err := os.ReadFile(p); err == nil {
							re.Match(data)
						}
					}
					return nil
				})
			}
		})
	}
	b.Run("skill-ignore-case", func(b *testing.B) { benchCall(b, set, "grep", args{"pattern": "NEEDLE", "ignore_case": true}) })
}
