package permission

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostile are documents that are made to be slow, deep or large.
func hostile() map[string]string {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'z'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "]\n"
	}
	ladder := ""
	for i := range 600 {
		ladder += strings.Repeat(" ", i) + "a:\n"
	}
	full := func(s string) string { return "version: 1\nfs: {hide: " + s }
	return map[string]string{
		"alias bomb":           bomb,
		"10 MiB":               full(`["` + strings.Repeat("a", 10<<20) + `"]}`),
		"10 MiB of entries":    full("[" + strings.Repeat("a,", 5<<20) + "]}"),
		"flow lists":           strings.Repeat("[", 100_000),
		"closed flow lists":    strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		"flow mappings":        strings.Repeat("{a: ", 50_000),
		"just below the marks": strings.Repeat("[", maxMarks-1),
		"dashes":               strings.Repeat("- ", 100_000),
		"few dashes":           strings.Repeat("- ", maxMarks/2),
		"question marks":       strings.Repeat("? ", 100_000),
		"few question marks":   strings.Repeat("? ", maxMarks/2),
		"ladder":               ladder,
		"colons":               strings.Repeat("a: ", 80_000),
		"bare colons":          strings.Repeat("a:", 120_000),
		"anchors":              strings.Repeat("&a ", 80_000),
		"comments":             strings.Repeat("#\n", 120_000),
		"empty lines":          strings.Repeat("\n", 250_000),
		"carriage returns":     strings.Repeat("\r", 250_000),
		"tabs":                 strings.Repeat("\t", 250_000),
		"spaces":               strings.Repeat(" ", 250_000),
		"literal":              "a: |\n" + strings.Repeat("  x\n", 9_000),
		"long plain":           "a: " + strings.Repeat("b ", 120_000),
		"continued plain":      "a: b\n" + strings.Repeat("  c\n", 9_000),
		"open quote":           `a: "` + strings.Repeat("\n", 19_000),
		"escapes":              `a: "` + strings.Repeat(`\n`, 120_000) + `"`,
		"single quotes":        "a: '" + strings.Repeat("''", 9_000),
		"many keys":            strings.Repeat("k: v\n", 9_000),
		"keys enough":          strings.Repeat("k: v\n", maxKeys),
		"tags":                 strings.Repeat("!!str ", 15_000),
		"invalid UTF-8":        "version: 1\nname: \xff\xfe",
		"NUL":                  "version: 1\nname: a\x00b",
		"documents":            strings.Repeat("---\na\n", 9_000),
		"long glob":            full(`["` + strings.Repeat("*/", 100_000) + `"]}`),
		"braces":               full(`["` + strings.Repeat("{a,", 2_000) + strings.Repeat("}", 2_000) + `"]}`),
		"stars":                full(`["` + strings.Repeat("**/a/", 800) + `"]}`),
	}
}

// Bounds of what reading a hostile document may take, all told: bytes and
// pieces of memory stand for time as well, which BenchmarkHostile has.
const (
	hostileBytes  = 64 << 20
	hostilePieces = 250_000
)

// taken is what f allocates; memory in use at any time is less.
func taken(f func()) (size, pieces uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs
}

// A hostile document is refused within the bounds, where it stands.
func TestHostile(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			data, err := []byte(text), error(nil)
			size, pieces := taken(func() { _, err = Decode("p.yaml", data) })
			var de *DocumentError
			require.ErrorAs(t, err, &de)
			require.Less(t, size, uint64(hostileBytes))
			require.Less(t, pieces, uint64(hostilePieces))
			require.Regexp(t, `^p\.yaml:\d+:\d+: `, err.Error())
		})
	}
}

// The front matter of an agent is no other way in.
func TestHostileAgent(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			data := []byte("---\nname: x\ndescription: y\n" + text + "\n---\n")
			size, pieces := taken(func() {
				if a, err := ParseAgent("a.md", data); err == nil {
					_, _, _ = a.Policy(Options{})
				}
			})
			require.Less(t, size, uint64(hostileBytes))
			require.Less(t, pieces, uint64(hostilePieces))
		})
	}
}

// The bounds leave room for what is large and honest.
func TestLargeIsRead(t *testing.T) {
	text := "version: 1\nfs:\n  hide:\n"
	for i := range 8_000 {
		text += "    - services/s" + strings.Repeat("x", i%7) + "/secret\n"
	}
	require.Len(t, decode(t, text).Document.FS.Hide, 8_000)
	src := decode(t, "version: 1\ntools: {a: {allowed_paths: ["+strings.Repeat("a, ", 1000)+"b]}}")
	require.Len(t, src.Document.Tools["a"].AllowedPaths, 1001)
}

func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile() {
		data := []byte(text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode("p.yaml", data); err == nil {
					b.Fatal("read")
				}
			}
		})
	}
}
