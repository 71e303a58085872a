package permission

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/policies"
)

func examined(t *testing.T, text string) []string {
	t.Helper()
	fsys := fstest.MapFS{"p.yaml": {Data: []byte(text)}, "broken.yaml": {Data: []byte("version: 1\nwrong: 1\n")}}
	x, err := examine(fsys, "p.yaml", Options{Root: "/project"})
	require.NoError(t, err)
	return texts(x)
}

func texts(x *examination) []string {
	list := []string{}
	for _, p := range x.problems {
		list = append(list, string(p.Severity)+" "+p.Code+" "+p.Position.String())
	}
	return list
}

// What is wrong with a document's shape does not hide what is wrong with its
// meaning, and nothing is said of what could not be read.
func TestExamineSaysEverythingAtOnce(t *testing.T) {
	require.Equal(t, []string{
		"error unknown_word p.yaml:3:14",
		"error path_outside p.yaml:4:14",
		"error unknown_key p.yaml:4:31",
		"warning unknown_tool p.yaml:5:9",
	}, examined(t, lines("version: 1", "extends: sandboxed", "bash_policy: al", "fs: {write: [../x, 'docs/a'], hdie: []}", "tools: {Raed: {}}")))
	require.Equal(t, []string{"error extends p.yaml:2:1", "error path_outside p.yaml:3:14", "warning hides_nothing p.yaml:3:31"},
		examined(t, lines("version: 1", "extends: sandbxed", "fs: {write: [/etc], hide: [a, a/b]}")))
	require.Equal(t, []string{"error unknown_key broken.yaml:2:1", "error bad_value p.yaml:3:13"},
		examined(t, lines("version: 1", "extends: broken.yaml", "fs: {hide: [/etc]}")))
	// The same without the mistakes.
	require.Empty(t, examined(t, lines("version: 1", "extends: sandboxed", "bash_policy: none", "fs: {write: [x, 'docs/a'], hide: []}", "tools: {Read: {}}")))

	// One mistake is one problem.
	for text, want := range map[string]string{
		"fs: {write: [1, docs, ../x]}":               "error wrong_type p.yaml:3:14;error path_outside p.yaml:3:23",
		"targets: {msg.send: parnt}":                 "error unknown_word p.yaml:3:21",
		"targets: {msg.send: 5}":                     "error wrong_type p.yaml:3:21",
		"cross_send: {mode: allowlst}":               "error unknown_word p.yaml:3:20",
		"cross_send: 5":                              "error wrong_type p.yaml:3:13",
		"tools: {Read: {timeout: x}}":                "error wrong_type p.yaml:3:25",
		"tools: {nexus_send: {allowed_targets: al}}": "error unknown_word p.yaml:3:39",
		"roles: {verify: 5}":                         "error wrong_type p.yaml:3:17",
		"name: 5":                                    "error wrong_type p.yaml:3:7",
		"fs: []":                                     "error wrong_type p.yaml:3:5",
	} {
		require.Equal(t, want, joined(examined(t, "version: 1\nextends: sandboxed\n"+text)), text)
	}
	require.Equal(t, []string{"error wrong_type p.yaml:1:1"}, examined(t, "[]"))
	require.Equal(t, []string{"error missing_key p.yaml:1:1"}, examined(t, "extends: sandboxed"))
	require.Equal(t, []string{"error not_held p.yaml:1:1"}, examined(t, "version: 1"))
}

func joined(list []string) string {
	s := ""
	for i, l := range list {
		if i > 0 {
			s += ";"
		}
		s += l
	}
	return s
}

func TestExamineAgent(t *testing.T) {
	of := func(front string) []string {
		fsys := fstest.MapFS{"a.md": {Data: []byte("---\n" + front + "---\n")}}
		x, err := examineAgent(fsys, "a.md", Options{Root: "/project"})
		require.NoError(t, err)
		return texts(x)
	}
	require.Equal(t, []string{"error wrong_type a.md:3:9", "error path_outside a.md:4:15"}, of("name: coder\ntools: [5]\nwrite_paths: [/etc]\n"))
	require.Equal(t, []string{"error extends a.md:3:1", "error path_outside a.md:4:15"}, of("name: coder\nprofile: WRIT\nwrite_paths: [/etc]\n"))
	require.Equal(t, []string{"error missing_key a.md:1:1", "error path_outside a.md:2:15"}, of("write_paths: [/etc]\n"))
	require.Equal(t, []string{"error reserved_word a.md:2:1"}, of("name: parent\n"))
	require.Equal(t, []string{"error write_required a.md:3:1"}, of("name: coder\nprofile: worker\n"))
	require.Empty(t, of("name: coder\ntools: [Read]\nprofile: WRITE\nwrite_paths: [src]\n"))
}

// Rules that hide nothing are found; globs for what may come later are not.
func TestLintHides(t *testing.T) {
	for text, want := range map[string]string{
		"fs: {hide: [secrets, secrets/a]}":         "p.yaml:3:22: 'secrets/a' is covered by 'secrets' already (drop it)",
		"fs: {hide: ['**/.env', 'a/.ENV']}":        "p.yaml:3:24: 'a/.ENV' is covered by '**/.env' already (drop it)",
		"fs: {hide: ['**/.env', '**/.env']}":       "p.yaml:3:24: '**/.env' is covered by '**/.env' already (drop it)",
		"fs: {hide: ['**/*.pem', '**/.env']}":      "",
		"fs: {hide: ['**/.env', '**/.env.local']}": "",
	} {
		found := compile(t, "version: 1\nextends: sandboxed\n"+text).lint()
		if want == "" {
			require.Empty(t, found, text)
			continue
		}
		require.Len(t, found, 1, text)
		require.Equal(t, want, found[0].String())
		require.Equal(t, "hides_nothing", found[0].Code)
	}

	fsys := fstest.MapFS{
		"base.yaml": {Data: []byte("version: 1\nextends: sandboxed\nfs: {hide: [secrets]}\n")},
		"p.yaml":    {Data: []byte("version: 1\nextends: base.yaml\nfs: {hide: ['secrets/**', other, 'a/*/b']}\n")},
	}
	x, err := examine(fsys, "p.yaml", Options{})
	require.NoError(t, err)
	require.Equal(t, "p.yaml:3:13: 'secrets/**' is hidden by 'base' already (drop it)", x.problems[0].String())
	require.Len(t, x.problems, 1)
	require.Equal(t, []policies.Entry{
		{Text: "secrets", Path: "fs.hide[0]", Position: access.Position{File: "base.yaml", Line: 3, Column: 13}},
		{Text: "secrets", Path: "fs.hide[0]", Position: access.Position{File: "p.yaml", Line: 3, Column: 13}},
		{Text: "other", Path: "fs.hide[1]", Position: access.Position{File: "p.yaml", Line: 3, Column: 27}},
	}, x.Hides)
}

// A document in braces on one line stays so where it fits.
func TestFormatKeepsShortFiles(t *testing.T) {
	const three = "version: 1\nextends: sandboxed\nfs: {write: [docs], hide: [\"**/.env\"]}\n"
	out, err := Format("p.yaml", []byte(three))
	require.NoError(t, err)
	require.Equal(t, three, string(out))
	block := "version: 1\nextends: sandboxed\nfs:\n  write: [docs]\n"
	out, err = Format("p.yaml", []byte(block))
	require.NoError(t, err)
	require.Equal(t, block, string(out))
	long := "version: 1\nfs: {write: [a-rather-long-directory, another-rather-long-directory, a-third-dire]}\n"
	out, err = Format("p.yaml", []byte(long))
	require.NoError(t, err)
	require.Equal(t, "version: 1\nfs:\n  write: [a-rather-long-directory, another-rather-long-directory, a-third-dire]\n", string(out))
	out, err = Format("p.json", []byte(`{"version": 1, "fs": {"write": ["docs"]}}`))
	require.NoError(t, err)
	require.Equal(t, "version: 1\nfs:\n  write: [docs]\n", string(out))
}

// FuzzExamine holds that no document, however broken, stops the examination.
func FuzzExamine(f *testing.F) {
	f.Add([]byte("version: 1\nextends: x\nfs: {write: [1, ../x], hide: 5}\ntools: {a: {timeout: x}}\n"))
	f.Add([]byte("---\nname: 5\ntools: [1, Bash(]\nwrite_paths: [/etc, '']\nprofile: x\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fsys := fstest.MapFS{"p": {Data: data}}
		x, err := examine(fsys, "p", Options{Root: "/project"})
		require.NoError(t, err)
		_, err = Decode("p", data)
		require.True(t, err == nil || x.refused(), "what Decode refuses is refused")
		a, err := examineAgent(fsys, "p", Options{Root: "/project"})
		require.NoError(t, err)
		_, err = ParseAgent("p", data)
		require.True(t, err == nil || a.refused())
	})
}
