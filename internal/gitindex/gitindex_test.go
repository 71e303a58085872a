package gitindex

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// index makes one of version 2 with these paths, in their order.
func index(paths ...string) []byte {
	b := binary.BigEndian.AppendUint32([]byte("DIRC"), 2)
	b = binary.BigEndian.AppendUint32(b, uint32(len(paths)))
	for _, p := range paths {
		e := make([]byte, 60)
		binary.BigEndian.PutUint32(e[24:], 0o100644)
		e = binary.BigEndian.AppendUint16(e, uint16(min(len(p), 0xfff)))
		e = append(e, p...)
		b = append(b, append(e, make([]byte, 8-len(e)%8)...)...)
	}
	return b
}

func summed(b []byte) []byte {
	sum := sha1.Sum(b)
	return append(bytes.Clone(b), sum[:]...)
}

func extension(name, content string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte(name), uint32(len(content))), content...)
}

func TestPathsThatLeadElsewhere(t *testing.T) {
	for _, bad := range []string{"../x", "a/../../x", "/etc/passwd", ".git/config", "a/.git/hooks/x", ".GIT/x", "a/.GiT", "a//b", "./x", "a/.",
		"git~1/config", ".git ", ".git./x", ".g\u200cit/config", ".git::$INDEX_ALLOCATION/x", "..", ""} {
		_, err := Check(summed(index("a/b", bad)), SHA1)
		require.Error(t, err, "%q", bad)
	}
	for _, good := range []string{"a", ".gitignore", ".github/x", "a/..b", "...", "git~2", "grün/ü", "\xff\xfe", "a b", "gitk", ".gita/b", strings.Repeat("d/", 3000) + "x"} {
		data := summed(index("a/b", good))
		clean, err := Check(data, SHA1)
		require.NoError(t, err, "%q", good)
		require.Equal(t, data, clean)
	}
}

func TestExtensions(t *testing.T) {
	body := index("a")
	for _, c := range []struct {
		name, content string
		want          string // kept, dropped or refused
	}{
		{"TREE", "\x001 0\n" + strings.Repeat("x", 20), "kept"},
		{"TREE", "\x001 1\n" + strings.Repeat("x", 20) + "sub\x00-1 0\n", "kept"},
		{"TREE", "\x001 1\n" + strings.Repeat("x", 20) + "..\x00-1 0\n", "refused"},
		{"REUC", "a\x00100644\x000\x000\x00" + strings.Repeat("x", 20), "kept"},
		{"REUC", "../a\x00100644\x000\x000\x00" + strings.Repeat("x", 20), "refused"},
		{"UNTR", "../../victim", "dropped"},
		{"FSMN", "x", "dropped"},
		{"EOIE", strings.Repeat("x", 24), "dropped"},                            // where git would begin to read extensions,
		{"IEOT", "\x00\x00\x00\x01\x00\x00\x00\x20\x00\x00\x00\x01", "dropped"}, // and entries
		{"sdir", "", "kept"},
		{"sdir", "x", "refused"},
		{"wild", "x", "refused"},
	} {
		data := summed(append(bytes.Clone(body), extension(c.name, c.content)...))
		clean, err := Check(data, SHA1)
		switch c.want {
		case "refused":
			require.Error(t, err, "%s %q", c.name, c.content)
		case "kept":
			require.NoError(t, err)
			require.Equal(t, data, clean)
		case "dropped":
			require.NoError(t, err)
			require.Equal(t, summed(body), clean)
		}
	}
	_, err := Check(summed(append(bytes.Clone(body), "TREE\xff\xff\xff\xff"...)), SHA1)
	require.Error(t, err)
}

// What git writes passes, in every version, whole or split, and git reads what is
// left.
func TestIndexOfGit(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		for _, version := range []string{"2", "3", "4"} {
			t.Run(format+version, func(t *testing.T) {
				dir := t.TempDir()
				git := func(args ...string) string {
					cmd := exec.Command("git", append([]string{"-c", "index.version=" + version, "-c", "core.untrackedCache=true"}, args...)...)
					cmd.Dir = dir
					cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e")
					out, err := cmd.CombinedOutput()
					require.NoError(t, err, "%s: %s", args, out)
					return string(out)
				}
				git("init", "-q", "--object-format="+format)
				for i := range 300 {
					f := filepath.Join(dir, fmt.Sprintf("d%d/e%d/f%d", i%7, i%3, i))
					require.NoError(t, os.MkdirAll(filepath.Dir(f), 0o755))
					require.NoError(t, os.WriteFile(f, []byte(f), 0o644))
				}
				git("add", ".")
				git("commit", "-qm", "x")
				require.NoError(t, os.WriteFile(filepath.Join(dir, "later"), nil, 0o644))
				git("add", "-N", "later") // needs version 3
				git("update-index", "--untracked-cache", "--index-version", version)
				git("status")
				h := SHA1
				if format == "sha256" {
					h = SHA256
				}
				check := func(name string) []byte {
					data, err := os.ReadFile(name)
					require.NoError(t, err)
					clean, err := Check(data, h)
					require.NoError(t, err)
					require.NotContains(t, string(clean), "UNTR")
					require.NoError(t, os.WriteFile(name, clean, 0o644))
					return clean
				}
				files := git("ls-files", "-s")
				check(filepath.Join(dir, ".git/index"))
				require.Equal(t, files, git("ls-files", "-s"))
				git("fsck")
				git("update-index", "--split-index")
				shared, err := filepath.Glob(filepath.Join(dir, ".git/sharedindex.*"))
				require.NoError(t, err)
				require.Len(t, shared, 1)
				check(shared[0])
				check(filepath.Join(dir, ".git/index"))
				require.Equal(t, files, git("ls-files", "-s"))
			})
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(summed(index("a", "b/c")))
	f.Add(summed(append(index("a"), extension("TREE", "\x001 0\nxxxxxxxxxxxxxxxxxxxx")...)))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, h := range []Hash{SHA1, SHA256} {
			clean, err := Check(data, h)
			if err != nil {
				continue
			}
			again, err := Check(clean, h)
			require.NoError(t, err)
			require.Equal(t, clean, again)
		}
	})
}
