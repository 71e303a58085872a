package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
)

// varying is what differs from run to run: times, counts, versions and how wide the
// terminal is.
var varying = regexp.MustCompile(`\([0-9a-f]{12}\)|[0-9]+(\.[0-9]+)*m?s?\b| +`)

// constant is a text without what varies.
func constant(text string) string {
	return varying.ReplaceAllStringFunc(strings.ReplaceAll(ansi.Strip(text), "\r", ""), func(s string) string {
		if s[0] == ' ' {
			return " "
		}
		return "N"
	})
}

// onTerminal is what a command prints on a terminal, where runs say what they left.
func (s *shell) onTerminal(t *testing.T, command string) (string, error) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(script, []byte(command+"\n"), 0o600))
	return s.try(t, "exec terminal bash "+script)
}

// consoles runs the commands of a page's consoles, in the page's order. Each line that the
// page shows is among what its command prints, but for times and counts; a command
// without any succeeds. What stands for /home/me is the home.
func (s *shell) consoles(t *testing.T, file string, rename ...string) {
	t.Helper()
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	home := filepath.Dir(s.dir)
	text := strings.NewReplacer(append(rename, "/home/me", home)...)
	ran := 0
	for _, b := range blocksOf(string(page)) {
		if b.language != "console" {
			continue
		}
		for _, part := range strings.Split("\n"+text.Replace(b.text), "\n$ ")[1:] {
			command, wants, _ := strings.Cut(part, "\n")
			out, err := s.onTerminal(t, command)
			if strings.TrimSpace(wants) == "" {
				require.NoError(t, err, "$ %s\n%s", command, out)
			}
			for line := range strings.Lines(wants) {
				if line = strings.TrimSpace(line); line != "..." {
					require.Contains(t, constant(out), constant(line), "$ %s", command)
				}
			}
			ran++
		}
	}
	require.NotZero(t, ran)
}

// projectOf is a directory beneath a home of its own.
func projectOf(t *testing.T, tree clitest.Tree) *shell {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	sh := &shell{dir: filepath.Join(home, "project")}
	tree.Make(t, sh.dir)
	return sh
}

// archive is a zip of some files.
func archive(t *testing.T, files ...string) string {
	t.Helper()
	var data bytes.Buffer
	z := zip.NewWriter(&data)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		require.NoError(t, err)
		_, err = w.Write([]byte(files[i+1]))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return data.String()
}

// TestScriptOfGo runs what docs/go.md shows. New modules come from files.
func TestScriptOfGo(t *testing.T) {
	const text = ".proxy/golang.org/x/text/@v/v0.14.0"
	sh := projectOf(t, clitest.Tree{
		"go.mod":                           "module example.com/hello\n\ngo 1.26\n",
		"hello.go":                         "package hello\n",
		"hello_test.go":                    "package hello\n\nimport \"testing\"\n\nfunc TestHello(*testing.T) {}\n",
		"../go/pkg/mod/cache/download/any": "",
		text + ".info":                     `{"Version":"v0.14.0"}`,
		text + ".mod":                      "module golang.org/x/text\n",
		text + ".zip":                      archive(t, "golang.org/x/text@v0.14.0/go.mod", "module golang.org/x/text\n", "golang.org/x/text@v0.14.0/text.go", "package text\n"),
	})
	sh.env = []string{"GOCACHE=", "GOPATH=", "GOMODCACHE="}
	// After the first run, which makes that home.
	settings := "mkdir -p ~/.agent-home/.config/go && echo GOPROXY=file://" + sh.dir + "/.proxy > ~/.agent-home/.config/go/env && echo GOSUMDB=off >> ~/.agent-home/.config/go/env"
	sh.consoles(t, "../../docs/go.md", "mkdir ~/.agent-home", settings)
	sh.run(t, "chmod -R u+w ~/.agent-home") // so that it can be removed
}

// TestScriptOfNpm runs what docs/npm.md shows. The packages come from files.
func TestScriptOfNpm(t *testing.T) {
	sh := projectOf(t, clitest.Tree{
		"package.json":        `{"name":"hello","version":"1.0.0","scripts":{"test":"node test.js"},"dependencies":{"dep":"file:dep-1.0.0.tgz"}}`,
		"test.js":             `if (require("dep") !== "dep") process.exit(1)`,
		"src/a.js":            "",
		".npmrc":              "audit=false\nfund=false\nupdate-notifier=false\n",
		"../dep/package.json": `{"name":"dep","version":"1.0.0"}`,
		"../dep/index.js":     `module.exports = "dep"`,
	})
	sh.run(t, "npm pack --silent ../dep && npm install --package-lock-only --offline --silent && mkdir node_modules")
	sh.consoles(t, "../../docs/npm.md")
}

// TestScriptOfPython runs what docs/python.md shows. The package comes from a file.
func TestScriptOfPython(t *testing.T) {
	const info = "dep-1.0.dist-info/"
	sh := projectOf(t, clitest.Tree{
		"requirements.txt": "./dep-1.0-py3-none-any.whl\n",
		"dep-1.0-py3-none-any.whl": archive(t, "dep.py", "", info+"METADATA", "Metadata-Version: 2.1\nName: dep\nVersion: 1.0\n",
			info+"WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", info+"RECORD", "dep.py,,\n"+info+"METADATA,,\n"+info+"WHEEL,,\n"+info+"RECORD,,\n"),
		"test_hello.py": "import unittest\n\nclass T(unittest.TestCase):\n    def test_hello(self):\n        try:\n            import dep\n        except ImportError: # pytest is the system's\n            pass\n",
		"src/a.py":      "",
	})
	sh.consoles(t, "../../docs/python.md")
	sh.run(t, ".venv/bin/python -c 'import dep'")
}
