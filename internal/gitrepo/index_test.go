//go:build unix

package gitrepo

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func all(string, []byte) bool { return true }

// TestTrackedAsGit compares what is read from an index with git ls-files.
func TestTrackedAsGit(t *testing.T) {
	for _, c := range []struct {
		name string
		init []string
		then func(s *site)
	}{
		{"version 2", nil, func(*site) {}},
		{"version 3", nil, func(s *site) {
			s.write("project/later", "x")
			s.git("project", "add", "-N", "later")
		}},
		{"version 4", nil, func(s *site) { s.git("project", "update-index", "--index-version", "4") }},
		{"sha256", []string{"--object-format=sha256"}, func(*site) {}},
		{"sha256, version 4", []string{"--object-format=sha256"}, func(s *site) { s.git("project", "update-index", "--index-version", "4") }},
		{"split", nil, func(s *site) {
			s.git("project", "update-index", "--split-index")
			s.write("project/a/new", "x")
			s.write("project/a/0", "changed")
			s.git("project", "add", ".")
		}},
		{"conflict", nil, func(s *site) {
			s.git("project", "commit", "-q", "-m", "a")
			s.git("project", "checkout", "-q", "-b", "other")
			s.write("project/a/0", "other")
			s.git("project", "commit", "-q", "-am", "b")
			s.git("project", "checkout", "-q", "main")
			s.write("project/a/0", "main")
			s.git("project", "commit", "-q", "-am", "c")
			_, err := s.try("project", "merge", "-q", "other")
			require.Error(s.t, err, "the merge conflicts")
		}},
		{"extensions", nil, func(s *site) {
			s.git("project", "commit", "-q", "-m", "a")
			s.git("project", "update-index", "--force-untracked-cache")
			s.git("project", "status")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.git("project", append([]string{"init", "-q", "-b", "main", "."}, c.init...)...)
			for i := range 40 {
				s.write(fmt.Sprintf("project/%c/%s%d", 'a'+i%3, strings.Repeat("n", i%11), i), "x")
			}
			s.write("project/.env", "secret")
			s.write("project/with\nline é \xff", "x")
			s.write("project/"+strings.Repeat("d/", 100)+strings.Repeat("long", 50), "x")
			require.Empty(t, must(s.mustInspect().Tracked(all, 1000)), "no index")
			s.git("project", "add", ".")
			c.then(s)
			want := strings.Split(strings.TrimSuffix(s.git("project", "ls-files", "-z"), "\x00"), "\x00")
			want = slices.Compact(want) // a conflict has each path three times
			r := s.mustInspect()
			got, complete, err := r.Tracked(all, 1000)
			require.NoError(t, err)
			slices.Sort(got)
			slices.Sort(want)
			assert.Equal(t, want, got)
			assert.True(t, complete)

			got, complete, err = r.Tracked(func(path string, _ []byte) bool { return path == ".env" }, 1)
			require.NoError(t, err)
			assert.Equal(t, []string{".env"}, got)
			assert.True(t, complete)
			got, complete, err = r.Tracked(all, 3)
			require.NoError(t, err)
			assert.Len(t, got, 3)
			assert.False(t, complete, "there are more")
		})
	}
}

func must(hits []string, _ bool, err error) []string {
	if err != nil {
		panic(err)
	}
	return hits
}

// TestTrackedSparse holds that an index which leaves directories out says so.
func TestTrackedSparse(t *testing.T) {
	s := newSite(t)
	s.init()
	s.write("project/a/.env", "x")
	s.write("project/b/x", "x")
	s.git("project", "add", ".")
	s.git("project", "commit", "-q", "-m", "a")
	got, complete, err := s.mustInspect().Tracked(all, 10)
	require.NoError(t, err)
	assert.Equal(t, []string{"a/.env", "b/x"}, got)
	assert.True(t, complete)
	s.git("project", "sparse-checkout", "set", "--cone", "--sparse-index", "b")
	got, complete, err = s.mustInspect().Tracked(all, 10)
	require.NoError(t, err)
	assert.Equal(t, []string{"a/", "b/x"}, got)
	assert.False(t, complete)
}

// TestTrackedRefused holds that what is no index is an error, and what is too
// large is not read whole.
func TestTrackedRefused(t *testing.T) {
	s := newSite(t)
	s.init()
	s.write("project/x", "x")
	s.git("project", "add", ".")
	file := filepath.Join(s.root, ".git/index")
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	r := s.mustInspect()
	require.Equal(t, []string{"x"}, must(r.Tracked(all, 10)), "as git wrote it")
	for name, text := range map[string][]byte{
		"empty": nil, "text": []byte("hello"), "version": append([]byte("DIRC\x00\x00\x00\x05"), whole[8:]...),
		"cut": whole[:40], "many": append([]byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff"), whole[12:]...),
	} {
		require.NoError(t, os.WriteFile(file, text, 0o600))
		_, complete, err := r.Tracked(all, 10)
		require.ErrorIs(t, err, errIndex, name)
		assert.Contains(t, err.Error(), file)
		assert.False(t, complete)
	}
	require.NoError(t, os.Remove(file))
	require.NoError(t, syscall.Mkfifo(file, 0o600))
	_, _, err = r.Tracked(all, 10)
	require.ErrorIs(t, err, errSpecial)
	require.NoError(t, os.Remove(file))
	require.NoError(t, os.Symlink("/dev/zero", file))
	_, _, err = r.Tracked(all, 10)
	require.ErrorIs(t, err, errLink)

	require.NoError(t, os.Remove(file))
	entry := whole[12 : 12+64]
	big := append([]byte("DIRC\x00\x00\x00\x02\x00\xff\xff\xff"), bytes.Repeat(entry, 40<<20/len(entry))...)
	require.NoError(t, os.WriteFile(file, big, 0o600))
	got, complete, err := r.Tracked(all, 10)
	require.NoError(t, err)
	assert.Equal(t, []string{"x"}, got)
	assert.False(t, complete, "the rest was not read")
}

// FuzzIndex holds that reading an index ends and stays within its names' bound.
func FuzzIndex(f *testing.F) {
	entry := make([]byte, 62)
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"+string(entry)+"a\x00"+strings.Repeat("s", 20)), false)
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x02"+string(entry)+"\x00abc\x00"+string(entry)+"\x01d\x00"+strings.Repeat("s", 20)), false)
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x00link\x00\x00\x00\x20"+strings.Repeat("b", 32)+strings.Repeat("s", 32)), true)
	f.Add([]byte("DIRC\x00\x00\x00\x04\xff\xff\xff\xff"+string(entry)+"\xff\xff\xff\xff\x7f"), false)
	f.Fuzz(func(t *testing.T, data []byte, long bool) {
		r := &tracked{match: all, limit: 1000, hash: 20, seen: map[string]bool{}}
		if long {
			r.hash = 32
		}
		_, _ = r.read(bufio.NewReader(bytes.NewReader(data))) // an error is an answer too
		for _, hit := range r.hits {
			require.LessOrEqual(t, len(hit), maxIndexName)
		}
	})
}

// BenchmarkTracked reads an index of 100,000 files.
func BenchmarkTracked(b *testing.B) {
	dir := b.TempDir()
	var text bytes.Buffer
	text.WriteString("DIRC\x00\x00\x00\x02\x00\x01\x86\xa0")
	for i := range 100_000 {
		name := fmt.Sprintf("src/package%03d/file%06d.go", i/100, i)
		text.Write(make([]byte, 62))
		text.WriteString(name)
		text.Write(make([]byte, 8-(62+len(name))%8))
	}
	text.Write(make([]byte, 20))
	require.NoError(b, os.WriteFile(filepath.Join(dir, "index"), text.Bytes(), 0o600))
	r := &Repository{GitDir: dir}
	b.ReportAllocs()
	for b.Loop() {
		if _, complete, err := r.Tracked(func(string, []byte) bool { return false }, 1); err != nil || !complete {
			b.Fatal(err)
		}
	}
}
