package caches

import (
	"archive/zip"
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/sys/unix"
)

// fixture is a layer with one good entry, and what proves it.
type fixture struct {
	host  Host
	plan  Plan
	base  string
	upper string // where the entry lies in the layer
	at    string // the host's directory for it
	place string // of the entry in both
	good  []byte
	older []byte // the same of another version, which is as well-formed
	sums  []byte
	name  string // what the sums call it
}

const someRoot = "/project"

func (f *fixture) promote(t *testing.T, dry bool) Result {
	res, err := Promote(f.base, someRoot, f.plan, f.sums, dry)
	require.NoError(t, err)
	return res
}

func (f *fixture) write(t *testing.T, place string, data []byte) {
	at := filepath.Join(f.upper, place)
	require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(t, os.WriteFile(at, data, 0o644))
}

func newFixture(t *testing.T, cache string) *fixture {
	f := &fixture{host: someHost(t), base: t.TempDir()}
	f.plan = planFor(t, f.host, cache)
	h, err := Hold(f.base, someRoot, f.plan)
	require.NoError(t, err)
	f.upper, f.at = h.Shown[0].Dir+"/upper", f.plan.Parts[0].Path
	h.Close()
	return f
}

// moduleZip is a module's zip file, and its hash.
func moduleZip(t *testing.T, version, content string) ([]byte, string) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, file := range [][2]string{{"go.mod", "module example.com/Lib\n"}, {"lib.go", content}} {
		w, err := z.Create("example.com/Lib@" + version + "/" + file[0])
		require.NoError(t, err)
		_, err = w.Write([]byte(file[1]))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	at := filepath.Join(t.TempDir(), "zip")
	require.NoError(t, os.WriteFile(at, b.Bytes(), 0o600))
	sum, err := dirhash.HashZip(at, dirhash.Hash1)
	require.NoError(t, err)
	return b.Bytes(), sum
}

func goFixture(t *testing.T) *fixture {
	f := newFixture(t, "go")
	var sum string
	f.good, sum = moduleZip(t, "v1.1.0", "package lib\n")
	f.older, _ = moduleZip(t, "v1.0.0", "package lib // with a hole\n")
	f.place, f.name = "cache/download/example.com/!lib/@v/v1.1.0.zip", "example.com/Lib@v1.1.0"
	f.sums = fmt.Appendf(nil, "example.com/Lib v1.1.0 %s\n", sum)
	f.write(t, f.place, f.good)
	return f
}

func integrity(data []byte) (place, sri string) {
	sum := sha512.Sum512(data)
	h := hex.EncodeToString(sum[:])
	return filepath.Join("sha512", h[:2], h[2:4], h[4:]), "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

func npmFixture(t *testing.T) *fixture {
	f := newFixture(t, "npm")
	f.good, f.older, f.name = []byte("package 1.1.0"), []byte("package 1.0.0"), "lib@1.1.0"
	var sri string
	f.place, sri = integrity(f.good)
	f.sums = fmt.Appendf(nil, `{"lockfileVersion":3,"packages":{"":{"name":"app","dependencies":{"lib":"1.1.0"}},"node_modules/lib":{"version":"1.1.0","integrity":"sha1-AAAA %s"}}}`, sri)
	f.write(t, f.place, f.good)
	return f
}

// What a checksum proves is promoted; what was poisoned never is. Each way begins with an
// entry that would be.
func TestPoisonIsNeverPromoted(t *testing.T) {
	for kind, make := range map[string]func(*testing.T) *fixture{"go": goFixture, "npm": npmFixture} {
		t.Run(kind+"/good", func(t *testing.T) {
			f := make(t)
			require.Equal(t, []string{f.name}, f.promote(t, true).Taken)
			require.NoFileExists(t, filepath.Join(f.at, f.place), "a dry run takes nothing over")
			require.Equal(t, Result{Taken: []string{f.name}}, f.promote(t, false))
			data, err := os.ReadFile(filepath.Join(f.at, f.place))
			require.NoError(t, err)
			require.Equal(t, f.good, data)
			require.Equal(t, Result{There: 1}, f.promote(t, false))
			require.FileExists(t, filepath.Join(f.upper, f.place), "the layer keeps it")
		})
		for way, poison := range map[string]func(t *testing.T, f *fixture, at string) error{
			"changed content": func(_ *testing.T, f *fixture, at string) error {
				return os.WriteFile(at, append(f.good[:len(f.good):len(f.good)], 0), 0o644)
			},
			"content of another": func(_ *testing.T, f *fixture, at string) error { return os.WriteFile(at, f.older, 0o644) },
			"nothing":            func(_ *testing.T, _ *fixture, at string) error { return os.Truncate(at, 0) },
			"link to a file": func(t *testing.T, f *fixture, at string) error {
				f.write(t, "elsewhere", f.good)
				return replace(at, func() error { return os.Symlink(filepath.Join(f.upper, "elsewhere"), at) })
			},
			"link in the layer": func(t *testing.T, f *fixture, at string) error {
				f.write(t, filepath.Join(filepath.Dir(f.place), "beside"), f.good)
				return replace(at, func() error { return os.Symlink("beside", at) })
			},
			"link above": func(t *testing.T, f *fixture, at string) error {
				dir := filepath.Dir(at)
				if err := os.Rename(dir, dir+"-moved"); err != nil {
					return err
				}
				return os.Symlink(filepath.Base(dir)+"-moved", dir)
			},
			"fifo": func(_ *testing.T, _ *fixture, at string) error {
				return replace(at, func() error { return unix.Mkfifo(at, 0o600) })
			},
			"directory": func(_ *testing.T, _ *fixture, at string) error {
				return replace(at, func() error { return os.Mkdir(at, 0o755) })
			},
		} {
			t.Run(kind+"/"+way, func(t *testing.T) {
				f := make(t)
				require.Equal(t, []string{f.name}, f.promote(t, true).Taken, "before it was poisoned")
				require.NoError(t, poison(t, f, filepath.Join(f.upper, f.place)))
				if kind == "go" && way == "changed content" {
					// A zip file's end may be followed by bytes that no reader looks at: the module
					// is what its hash says. Poison is what changes a file in it.
					data, _ := moduleZip(t, "v1.1.0", "package lib; func init() { evil() }\n")
					f.write(t, f.place, data)
				}
				res := f.promote(t, false)
				require.Empty(t, res.Taken)
				require.Len(t, res.Refused, 1)
				require.Equal(t, f.name, res.Refused[0].Name)
				require.NotEmpty(t, res.Refused[0].Why)
				require.Empty(t, filesIn(t, f.at), "nothing is left of it, nor beside it")
			})
		}
	}
}

func replace(at string, by func() error) error {
	if err := os.Remove(at); err != nil {
		return err
	}
	return by()
}

func filesIn(t *testing.T, dir string) (files []string) {
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, p)
		}
		return err
	}))
	return files
}

// What stands beside a module is made anew: nothing of the layer's says a version's hash
// or time.
func TestGoMadeAnew(t *testing.T) {
	f := goFixture(t)
	stem := f.place[:len(f.place)-len("zip")]
	f.write(t, stem+"info", []byte(`{"Version":"v9.9.9","Origin":{"URL":"https://evil.example"}}`))
	f.write(t, stem+"ziphash", []byte("h1:evil"))
	f.write(t, stem+"mod", []byte("module evil\n"))
	f.write(t, "example.com/!lib@v1.1.0/lib.go", []byte("package evil\n"))
	_, sum := moduleZip(t, "v1.1.0", "package lib\n")
	f.sums = fmt.Appendf(f.sums, "\nexample.com/Lib v1.1.0/go.mod %s\nexample.com/Lib v1.2.0 h2:later\n", sum)
	res := f.promote(t, false)
	require.Equal(t, []string{f.name}, res.Taken)
	require.Equal(t, []Refusal{{f.name + "/go.mod", res.Refused[0].Why}}, res.Refused, "a go.mod has a hash of its own")
	for end, want := range map[string]string{"info": `{"Version":"v1.1.0"}`, "ziphash": sum} {
		data, err := os.ReadFile(filepath.Join(f.at, stem+end))
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}
	require.NoFileExists(t, filepath.Join(f.at, stem+"mod"))
	require.Len(t, filesIn(t, f.at), 3)
	require.Contains(t, string(goInfo("v0.0.0-20231110203233-9a3e6036ecaa")), `"Time":"2023-11-10T20:32:33Z"`)

	// The host's own is left as it is, whatever it is.
	require.NoError(t, os.WriteFile(filepath.Join(f.at, f.place), []byte("host's"), 0o644))
	require.Equal(t, 1, f.promote(t, false).There)
	data, err := os.ReadFile(filepath.Join(f.at, f.place))
	require.NoError(t, err)
	require.Equal(t, "host's", string(data))
}

// A small zip file with very much in it is refused before it is read.
func TestGoZipBomb(t *testing.T) {
	f := goFixture(t)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for range 2 {
		_, err := z.CreateRaw(&zip.FileHeader{Name: "example.com/Lib@v1.1.0/big", Method: zip.Deflate, UncompressedSize64: maxModuleZip})
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	f.write(t, f.place, b.Bytes())
	require.Contains(t, f.promote(t, false).Refused[0].Why, "more than")
}

func TestPromoteRefuses(t *testing.T) {
	f := goFixture(t)
	for _, sums := range []string{"../x v1.0.0 h1:x\n", "example.com/Lib ../../v1.0.0 h1:x\n", "example.com/Lib v1.0.0\n", "{}"} {
		_, err := Promote(f.base, someRoot, f.plan, []byte(sums), false)
		require.ErrorContains(t, err, "line 1", sums)
	}
	for _, lock := range []string{"", "[]", "{}", `{"lockfileVersion":3,"packages":{"a":1}}`} {
		_, err := Promote(f.base, someRoot, planFor(t, f.host, "npm"), []byte(lock), false)
		require.Error(t, err, lock)
	}
	for _, name := range []string{"pip", "cargo"} {
		_, err := Promote(f.base, someRoot, planFor(t, f.host, name), nil, false)
		require.ErrorContains(t, err, "nothing is promoted")
	}
	_, err := Promote(f.base, "/none", f.plan, f.sums, false)
	require.ErrorIs(t, err, fs.ErrNotExist)
	h, err := Hold(f.base, someRoot, f.plan)
	require.NoError(t, err)
	_, err = Promote(f.base, someRoot, f.plan, f.sums, false)
	require.ErrorIs(t, err, ErrBusy)
	h.Close()
	require.Len(t, f.promote(t, false).Taken, 1)
}

func TestNpmPieces(t *testing.T) {
	_, a := integrity([]byte("a"))
	place, b := integrity([]byte("b"))
	list, err := npmPieces(fmt.Appendf(nil, `{"lockfileVersion":1,"dependencies":{"x":{"version":"1.0.0","integrity":%q,
		"dependencies":{"y":{"version":"2.0.0","integrity":%q},"z":{"version":"3.0.0","integrity":"sha512-AAAA"}}}}}`, a, b))
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "y@2.0.0", list[1].name)
	require.Equal(t, place, list[1].place)
}
