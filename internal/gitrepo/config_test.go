package gitrepo

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// like writes settings as "git config --list -z" does.
func like(settings []setting) string {
	var b strings.Builder
	for _, s := range settings {
		b.WriteString(s.key())
		if !s.bare {
			b.WriteString("\n" + s.value)
		}
		b.WriteByte(0)
	}
	return b.String()
}

// asSpaces writes tabs and carriage returns as spaces: git before 2.45 did that
// with those that stand inside a value without quotes.
func asSpaces(s string) string {
	return strings.NewReplacer("\t", " ", "\r", " ").Replace(s)
}

// gitReads has git list a file.
func gitReads(t testing.TB, file string) (string, error) {
	cmd := exec.Command("git", "config", "--list", "-z", "--file", file)
	cmd.Dir = filepath.Dir(file)
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(filepath.Dir(file)))
	out, err := cmd.Output()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return string(out), err
}

// pieces are what hand-written and hostile configuration is made of.
var pieces = []string{
	"[a]", "[a]\n", "[Core]\n", "[a \"b\"]\n", "[a \"B\\\"c\\\\\"]\n", "[a.B]\n", "[a.b \"c\"]\n", "[a \"\"]\n", "[ \"x\"]\n", "[.x]\n", "[]\n",
	"[a\t\"b\"]", "[a \"b\" ]\n", "[a \"b]\"]\n", "[a \"b\n", "[a-1]\n", "[a_b]\n", "[a",
	"x = y\n", "\tname = value\n", "Name=Value\n", "x\n", "x ", "x =\n", "x = \"a b\"\n", "x = \"a;b\" ; c\n", "x = a#b\n", "x = a\\\n b\n",
	"x = a  \\\n", "x = \"a\\\nb\"\n", "x = a\\tb\\nc\\bd\\\\e\\\"f\n", "x = \\q\n", "x = \"a\n", "x = a  b   c  \n", "x = \"a\" \"b\" \n", "x = ~/y\n",
	"x-1 = 2\n", "1x = 2\n", "-x = 2\n", "x_y = 2\n", "x.y = 2\n", "x y\n", "x\t= y\n", "x\r\n", "x = y\r\n", "x = y\r", "\r\n", "\n", " ", "\t", "# c\n", "; c\n",
	"#", ";", "\"", "\\", "=", "\xef\xbb\xbf", "\xef\xbb", "\xff", "é", "x = é\xff\n", "\v", "x = a\vb\n", "[a]x = y\n", "]", "[", "x = !f() { echo \\\"$1\\\"; }; f\n", "\f",
	"x = \"  a  \"  \n", "x = \"\"\n", "x = \"\"  a\n", "x = a\\", "x = \\\r\n y\n", "x = a \\\r\n", "[a \"\r\n\"]\n", "[a\n\"b\"]\n", "[a \\\"b\"]\n",
}

// TestConfigAsGit compares the reader with git over generated files.
func TestConfigAsGit(t *testing.T) {
	const rounds = 2400
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(13, 2026))
	file := filepath.Join(dir, "config")
	good, bad := 0, 0
	var whole []string // pieces that git reads
	for _, piece := range pieces {
		if _, err := parseConfig("", []byte("[a]\n"+piece+"\n")); err == nil && strings.HasSuffix(piece, "\n") {
			whole = append(whole, piece)
		}
	}
	for range rounds {
		var text strings.Builder
		if random.IntN(4) > 0 {
			text.WriteString("[a]\n")
		}
		for range 1 + random.IntN(8) {
			piece := whole[random.IntN(len(whole))]
			if random.IntN(10) == 0 {
				piece = pieces[random.IntN(len(pieces))]
			}
			if random.IntN(40) == 0 && piece != "" {
				at := random.IntN(len(piece))
				piece = piece[:at] + piece[at+1:]
			}
			text.WriteString(piece)
		}
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
		want, gitErr := gitReads(t, file)
		settings, err := parseConfig(file, []byte(text.String()))
		if gitErr != nil {
			bad++
			require.Error(t, err, "git refuses %q", text.String())
			continue
		}
		good++
		require.NoError(t, err, "git reads %q as %q", text.String(), want)
		require.Equal(t, asSpaces(want), asSpaces(like(settings)), "%q", text.String())
	}
	t.Logf("%d files: git and the reader agree on %d that are read and %d that are refused", rounds, good, bad)
	assert.Greater(t, good, rounds/10)
	assert.Greater(t, bad, rounds/10)
}

// TestConfigLines holds that a setting knows its line.
func TestConfigLines(t *testing.T) {
	settings, err := parseConfig("f", []byte("\xef\xbb\xbf; c\r\n[a]\r\n x = 1\\\r\n2\r\n\r\ny\r\n[b \"c\"] z = \"\\\n\"\nw"))
	require.NoError(t, err)
	var got []string
	for _, s := range settings {
		got = append(got, fmt.Sprintf("%d %s", s.line, s.key()))
	}
	assert.Equal(t, []string{"3 a.x", "6 a.y", "7 b.c.z", "9 b.c.w"}, got)
	for text, line := range map[string]int{"[a]\n\nx = \"1\n": 3, "[a]\nx = \\\n\\q": 2, "\n[a": 2, "[a]\n\n?": 3} {
		_, err := parseConfig("f", []byte(text))
		var own *Error
		require.ErrorAs(t, err, &own)
		assert.Equal(t, line, own.Line, "%q: %v", text, err)
	}
}

// FuzzConfig compares the reader with git where PINFOLD_LONG is set, and
// otherwise holds that it ends, and that what it read can be read again.
func FuzzConfig(f *testing.F) {
	for _, piece := range pieces {
		f.Add("[a]\n" + piece)
	}
	file := filepath.Join(f.TempDir(), "config")
	f.Fuzz(func(t *testing.T, text string) {
		settings, err := parseConfig("f", []byte(text))
		if os.Getenv("PINFOLD_LONG") != "" && !strings.ContainsRune(text, 0) {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			want, gitErr := gitReads(t, file)
			require.Equal(t, gitErr == nil, err == nil, "git: %v, the reader: %v", gitErr, err)
			if err == nil {
				require.Equal(t, asSpaces(want), asSpaces(like(settings)))
			}
		}
		for _, s := range settings {
			if err != nil || s.section == "" || s.section[0] == '.' {
				return
			}
			quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)
			again, err := parseConfig("f", []byte(fmt.Sprintf("[%s \"%s\"]\n%s = \"%s\"\n", s.section, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s.subsection), s.name, quote.Replace(s.value))))
			require.NoError(t, err)
			require.Equal(t, s.value, again[0].value)
			require.Equal(t, s.subsection, again[0].subsection)
		}
	})
}

// FuzzCommand holds that reading a command ends, whatever it is.
func FuzzCommand(f *testing.F) {
	for _, text := range []string{
		"sh -c 'a \"$b\"'", "`a`", "$((1+2))", "${a:-b}", "$(", "${", "`", "'", "\"", "a\\", "~/x", "~nobody/x", "$(a $(b))/c", "x=1; $x/y", "2>&1", "${", "$((", "a=$b$a; $a$a",
		"python3 -Xa -m b.c", "python -c 'import a, b; from c import d'", "env -u x npx -p y z@1", "cd a && cd ../b; ./c", "node -r x --import=./y z", "PATH=a:$b:c uv run d", "ruby -I x -Iy -r./z", "make -C",
	} {
		f.Add(text)
	}
	root := f.TempDir()
	f.Fuzz(func(_ *testing.T, text string) {
		in := &inspector{root: root, env: Environment{Home: "/h", Getenv: func(string) string { return "" }}, repo: &Repository{GitDir: root + "/.git", CommonDir: root + "/.git"}, seen: map[Named]bool{}, bases: []string{root}}
		_ = in.command(item{setting: setting{section: "core", name: "editor", value: text}, source: source{own: true}}, text, "") // an error is an answer too
	})
}

func TestSetting(t *testing.T) {
	for text, want := range map[string]string{
		"[core]\n\tworktree = ../../x\n":                       "../../x",
		"[core]\n\tworktree = ../../x\n\tworktree=../y":        "../y",
		"[CORE]\n\tWorkTree = a b  # said\n":                   "a b",
		"[core] worktree = x\n":                                "x",
		"[core]\nworktree = \"a # b\\\\c\" ; x\n":              `a # b\c`,
		"[core]\nworktree = a\\\nb\n":                          "ab",
		"[core]\nbare = false\n[other]\nworktree = x\n":        "",
		"[core \"sub\"]\nworktree = x\n":                       "",
		"# [core]\n[user]\n# worktree = x\n":                   "",
		"[core]\nworktree = \"open\n":                          "",
		"[core]\nworktree = bad\\q\n":                          "",
		"[core]\n# worktree = x\n;worktree = y\n":              "",
		"[core]\nworktree = x\n[user]\nworktree = y\n[core]\n": "x",
	} {
		value, ok := Setting([]byte(text), "core.worktree")
		if !ok {
			value = ""
		}
		require.Equal(t, want, value, "%q", text)
	}
}

// What is picked reads as the values that were there, and as nothing else.
func TestPick(t *testing.T) {
	const text = `[user]
	name = "A \"B\" \\ C\n[core]\n\tsshCommand = evil"  # comment
	email = a@example.com
	signingkey = KEY
[user "sub"]
	name = other
[url "https://me:TOKEN@example.com/"]
	insteadOf = https://example.com/
[http]
	extraHeader = "Authorization: TOKEN"
[credential]
	helper = store
[commit]
	verbose
`
	keys := []string{"user.name", "user.email", "commit.verbose"}
	got := Pick([]byte(text), keys)
	settings, err := parseConfig("config", got)
	require.NoError(t, err)
	var found []string
	for _, s := range settings {
		found = append(found, s.key()+"="+s.value)
	}
	require.Equal(t, []string{"user.name=A \"B\" \\ C\n[core]\n\tsshCommand = evil", "user.email=a@example.com", "commit.verbose="}, found)
	require.NotContains(t, string(got), "TOKEN")
	require.Equal(t, string(got), string(Pick(got, keys)))
	require.Empty(t, Pick([]byte("[user"), keys))
}
