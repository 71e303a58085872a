package fileskills

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

func TestListDirectory(t *testing.T) {
	w := newWorld(t)
	w.plant("src/a.go", "12345")
	w.plant("src/.env", "x")
	w.plant("src/sub/f", "x")
	for name, target := range map[string]string{
		"in": "a.go", "up": "../ok.txt", "out": "../../outside/secret", "abs": filepath.Join(w.base, "outside/secret"),
		"gone": "nothing", "goneout": "../../outside/nothing", "home": w.path("ok.txt"),
	} {
		require.NoError(t, os.Symlink(target, w.path("src/"+name)))
	}
	res := w.ok("list_directory", args{"path": "src"})
	require.Equal(t, strings.Join([]string{
		"a.go", "abs -> (outside)", "gone -> nothing (missing)", "goneout -> (outside)", "home -> " + w.path("ok.txt"), "in -> a.go",
		"out -> (outside)", "sub/", "up -> ../ok.txt", "(1 name that begins with a dot not shown; all=true)"}, "\n"), res.Text)
	require.Equal(t, 9, *res.Meta.Total)
	require.NotContains(t, res.Text, filepath.Join(w.base, "outside"), "no path of the host")
	target, err := os.Readlink(w.path("src/abs"))
	require.NoError(t, err)
	require.Contains(t, target, filepath.Join(w.base, "outside"), "without the guard it is shown")

	require.Contains(t, w.ok("list_directory", args{"path": "src", "all": true}).Text, ".env\n")
	require.Regexp(t, `(?m)^-rw-r--r-- +5 \d{4}-\d\d-\d\dT\d\d:\d\d a\.go$`, w.ok("list_directory", args{"path": "src", "long": true}).Text)
	require.Equal(t, "a.go\nabs -> (outside)\n[entries 1-2 of 9, by name; continue with offset=2]\n(1 name that begins with a dot not shown; all=true)",
		w.ok("list_directory", args{"path": "src", "max_results": 2}).Text)
	require.Equal(t, "[empty]", w.ok("list_directory", args{"path": "out"}).Text)
	require.Contains(t, w.ok("list_directory", args{}).Text, "ok.txt\nout/\nsrc/")
	w.refused(CodeNotDirectory, "list_directory", args{"path": "ok.txt"})
	w.refused(CodeSymlinkEscape, "list_directory", args{"path": "src/out"})
}

// A directory of any size is read to its end, page by page, each name once.
func TestListDirectoryPages(t *testing.T) {
	w := newWorld(t)
	var want []string
	for i := range 25 {
		name := fmt.Sprintf("f%02d", i)
		w.plant("d/"+name, "")
		want = append(want, name)
	}
	w.plant("d/.dot", "")
	page := func(offset int) *Result {
		return w.ok("list_directory", args{"path": "d", "max_results": 10, "offset": offset})
	}
	var got []string
	for offset := 0; ; {
		res := page(offset)
		require.Equal(t, 25, *res.Meta.Total)
		lines := strings.Split(res.Text, "\n")
		got = append(got, lines[:len(lines)-2]...) // without what is said of the page and the dot
		if !res.Meta.Truncated {
			require.Nil(t, res.Meta.NextOffset)
			require.Contains(t, res.Text, "f24\n[entries 21-25 of 25; end of the list]\n")
			break
		}
		offset = *res.Meta.NextOffset
		require.Contains(t, res.Text, fmt.Sprintf("of 25, by name; continue with offset=%d]", offset))
	}
	require.Equal(t, want, got)
	e := w.refused(CodeInvalidArgument, "list_directory", args{"path": "d", "offset": 25})
	require.Contains(t, e.Message, "offset 25 is beyond the end: d has 25 entries.")
	require.Equal(t, "[empty]", w.ok("list_directory", args{"path": "out", "offset": 0}).Text)

	// What a page has no room for is on the next one, too.
	long := strings.Repeat("x", 200)
	for i := range 400 {
		w.plant(fmt.Sprintf("many/%s%03d", long, i), "")
	}
	seen := 0
	for offset := 0; ; {
		res := w.ok("list_directory", args{"path": "many", "max_results": 10_000, "offset": offset})
		require.LessOrEqual(t, len(res.Text), maxText+1024)
		seen += strings.Count(res.Text, long)
		if !res.Meta.Truncated {
			break
		}
		offset = *res.Meta.NextOffset
	}
	require.Equal(t, 400, seen)
}

func TestListDirectoryHides(t *testing.T) {
	w := newWorldWith(t, pathresolver.Config{Hide: []string{"**/.env", "secrets"}})
	w.plant("secrets/key", "x")
	w.plant(".env", "x")
	require.NoError(t, os.Symlink("secrets/key", w.path("link")))
	res := w.ok("list_directory", args{"all": true})
	require.Equal(t, "link -> (outside)\nok.txt\nout/", res.Text)
	e := w.refused(CodeNotFound, "read_file", args{"path": ".en"})
	require.NotContains(t, e.Hint, ".env", "no hidden name is suggested")
	require.Contains(t, w.refused(CodeNotFound, "read_file", args{"path": "ok.tx"}).Hint, "ok.txt")
}

// V11: a hostile name is one line of a listing.
func TestListDirectoryEscapes(t *testing.T) {
	w := newWorld(t)
	w.plant("d/a\nb\x1b[31m", "")
	w.plant("d/\xff", "")
	require.Equal(t, `a\nb\x1b[31m`+"\n"+`\xff`, w.ok("list_directory", args{"path": "d"}).Text)
	require.Contains(t, w.ok("glob", args{"pattern": "d/*"}).Text, `d/a\nb\x1b[31m`+"\n"+`d/\xff`)
}

func TestSmallest(t *testing.T) {
	random := rand.New(rand.NewPCG(rand.Uint64(), 3))
	for range 50 {
		all := make([]int, 1+random.IntN(20000))
		for i := range all {
			all[i] = random.IntN(len(all))
		}
		want := slices.Sorted(slices.Values(all))
		n := 1 + random.IntN(3000)
		require.Equal(t, want[:min(n, len(want))], smallest(all, n, cmp.Compare), fmt.Sprint(n, len(all)))
	}
}
