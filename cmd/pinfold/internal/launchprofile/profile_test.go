package launchprofile

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuiltins(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	require.Contains(t, Builtins(), "claude")
	require.Equal(t, Builtins(), Names())
	for _, name := range Builtins() {
		p, err := Load(name, nil)
		require.NoError(t, err)
		require.Equal(t, name, p.Program)
		require.Equal(t, "npm install -g "+p.NPM, p.Install())
		require.Equal(t, []string{"**/.env"}, p.Hide)
		require.NotEmpty(t, p.Hosts)
		require.NotEmpty(t, p.Tested)
		require.True(t, p.Known(p.Tested[0]+".7"))
		require.False(t, p.Known(p.Tested[0]+"7"))
		require.False(t, p.Known("99.0"))
	}
}

const least = "version: 1\nprogram: x\nhome: x\n"

// A mistake is told with its line and its key.
func TestDecodeIsStrict(t *testing.T) {
	_, err := Decode("x", "x.yaml", []byte(least))
	require.NoError(t, err)
	for text, want := range map[string]string{
		"":                                   "x.yaml:1: a profile is a mapping",
		"- a\n":                              "x.yaml:1: a profile is a mapping",
		"a: [\n":                             "this is not YAML",
		least + "---\n" + least:              "one document is wanted",
		least + "hides: [a]\n":               "x.yaml:4: unknown key hides: did you mean 'hide'?",
		least + "home: y\n":                  "x.yaml:4: ",
		least + "hide: a\n":                  "x.yaml:4: hide: want a list of strings",
		least + "hide: [a, 1]\n":             "x.yaml:4: hide: want a list of strings",
		least + "hide:\n":                    "x.yaml:4: hide is empty",
		least + "git: maybe\n":               "x.yaml:4: git: want true or false",
		least + "title: 1\n":                 "x.yaml:4: title: want a string",
		least + "set: {A: 1}\n":              "x.yaml:4: set: want NAME",
		least + "set: [A]\n":                 "x.yaml:4: set: want NAME",
		least + "set: {A-B: \"1\"}\n":        "x.yaml:4: set: 'A-B' is not the name of a variable",
		least + "env: [\"A=1\"]\n":           "x.yaml:4: env: 'A=1' is not the name of a variable",
		least + "show: [.gitconfig]\n":       "x.yaml:4: show: '.gitconfig' begins neither",
		least + "layouts: [~/a/../../b]\n":   "x.yaml:4: layouts: '~/a/../../b' begins neither",
		least + "tell_home: {../x: y}\n":     "x.yaml:4: tell_home: '../x' is no path in its home",
		least + "mcp_home: {../x: y}\n":      "x.yaml:4: mcp_home: '../x' is no path in its home",
		least + "extends: nobody\n":          "x.yaml:4: extends: nobody is not built in",
		"version: 2\nprogram: x\nhome: x\n":  "x.yaml:1: version: this program reads version: 1",
		"version: one\n":                     "x.yaml:1: version: want a number",
		"version: 1\nprogram: a/b\n":         "x.yaml:2: program: want the name of a program",
		"version: 1\nprogram: x\nhome: ..\n": "x.yaml:3: home: want a name",
	} {
		_, err := Decode("x", "x.yaml", []byte(text))
		require.ErrorContains(t, err, want, "%q", text)
	}
}

// A user's own profile stands beside the built-in ones, and may begin with one.
func TestOwnProfile(t *testing.T) {
	base := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", base)
	dir := filepath.Join(base, "pinfold", "apps")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	own := "version: 1\nextends: claude\nhide: []\nwrite: [src]\ngit: false\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(own), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "codex.yaml"), []byte("version: 1\nextends: codex\nargs: []\n"), 0o600))
	require.Equal(t, append(Builtins(), "mine"), Names())

	claude, err := Load("claude", nil)
	require.NoError(t, err)
	mine, err := Load("mine", nil)
	require.NoError(t, err)
	require.Equal(t, "claude", mine.Program)
	require.Equal(t, claude.Env, mine.Env)
	require.Empty(t, mine.Hide)
	require.Equal(t, []string{"src"}, mine.Write)
	require.False(t, mine.Git)
	text, err := mine.Text()
	require.NoError(t, err)
	require.Equal(t, own, string(text))

	codex, err := Load("codex", nil)
	require.NoError(t, err)
	require.Empty(t, codex.Args, "the user's own comes before the built-in one")

	_, err = Load("min", nil)
	require.EqualError(t, err, "unknown app 'min': did you mean 'mine'?")
	_, err = Load("../codex", nil)
	require.ErrorContains(t, err, "unknown app")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "long.yaml"), make([]byte, maxFile+1), 0o600))
	_, err = Load("long", nil)
	require.ErrorContains(t, err, "longer than")
}

// A profile that a run could have written, or to which it could have led, is not read.
func TestOwnProfileThatARunCouldWrite(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	at := func(p string) string { return filepath.Join(base, p) }
	t.Setenv("XDG_CONFIG_HOME", at("home/config"))
	for name, c := range map[string]struct {
		link, to string // what leads to the profile
		written  string
		refused  bool
	}{
		"a link of the user's to a directory that is hidden from runs": {"home/config", "dot/config", "dot", false},
		"a link of a run's": {"home/config", "dot/config", "home", true},
		"a link beneath the hidden directory to what a run wrote": {"home/config/pinfold/apps", "dot/config/pinfold/apps", "dot", true},
		"the same where no run wrote":                             {"home/config/pinfold/apps", "dot/config/pinfold/apps", "other", false},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(at("home")))
			require.NoError(t, os.MkdirAll(at("dot/config/pinfold/apps"), 0o700))
			require.NoError(t, os.WriteFile(at("dot/config/pinfold/apps/claude.yaml"), []byte("version: 1\nextends: claude\nshow: [~/.ssh]\n"), 0o600))
			require.NoError(t, os.MkdirAll(filepath.Dir(at(c.link)), 0o700))
			require.NoError(t, os.Symlink(at(c.to), at(c.link)))
			unguarded, err := Load("claude", nil)
			require.NoError(t, err)
			require.Equal(t, []string{"~/.ssh"}, unguarded.Show)
			_, err = Load("claude", []string{at(c.written)})
			if c.refused {
				require.ErrorContains(t, err, "a run could")
				return
			}
			require.NoError(t, err)
		})
	}
}

func TestVariables(t *testing.T) {
	p := &Profile{Env: []string{"KEY", "UNSET"}, Set: map[string]string{"B": "2", "A": "1"}, SetAsRoot: map[string]string{"C": "3"}}
	lookup := func(name string) (string, bool) { return "secret", name == "KEY" }
	require.Equal(t, []string{"KEY", "A=1", "B=2"}, p.Variables(lookup, false))
	require.Equal(t, []string{"KEY", "A=1", "B=2", "C=3"}, p.Variables(lookup, true))
}

func TestKeptHome(t *testing.T) {
	p := &Profile{Home: "claude"}
	t.Setenv("XDG_DATA_HOME", "/data")
	home, err := p.KeptHome()
	require.NoError(t, err)
	require.Equal(t, "/data/pinfold/homes/claude", home)
	t.Setenv("XDG_DATA_HOME", "relative")
	t.Setenv("HOME", "/home/me")
	home, err = p.KeptHome()
	require.NoError(t, err)
	require.Equal(t, "/home/me/.local/share/pinfold/homes/claude", home)
	t.Setenv("HOME", "")
	_, err = p.KeptHome()
	require.Error(t, err)
}

// A user's own words in the same place are joined, or others tell the rules, or nothing
// can and that is said. The server is connected where it is wanted, and nothing else.
func TestTelling(t *testing.T) {
	p := &Profile{
		TellArgs: []string{"-c", "told={json}"}, TellUnless: []string{"told=", "--told"}, TellJoin: "told=",
		TellSet: map[string]string{"B": "[{file}]", "A": "1"},
		MCPArgs: []string{"--mcp"}, MCPSet: map[string]string{"A": "2"},
	}
	rules := Told{File: "/run/rules", Text: []byte("a \"b\"\nc")}
	tell, own, env, told := p.Telling(rules, []string{"-c", "other=1"})
	require.Equal(t, []string{"-c", `told="a \"b\"\nc"`}, tell)
	require.Equal(t, []string{"-c", "other=1"}, own)
	require.Equal(t, []string{"A=1", "B=[/run/rules]"}, env)
	require.True(t, told)
	for _, said := range []string{"told=mine", `told="mine"`} {
		tell, own, _, told = p.Telling(rules, []string{"-c", said})
		require.Empty(t, tell)
		require.Equal(t, []string{"-c", `told="mine\n\na \"b\"\nc"`}, own)
		require.True(t, told)
	}
	for _, said := range []string{"told='mine'", "--told"} {
		tell, own, _, told = p.Telling(rules, []string{said})
		require.Empty(t, tell)
		require.Equal(t, []string{said}, own)
		require.False(t, told)
	}
	p.TellElse = []string{"--also", "{text}"}
	tell, _, _, told = p.Telling(rules, []string{"--told"})
	require.Equal(t, []string{"--also", "a \"b\"\nc"}, tell)
	require.True(t, told)

	require.True(t, p.Connects())
	rules.MCP = true
	tell, _, env, _ = p.Telling(rules, nil)
	require.Equal(t, "--mcp", tell[0])
	require.Equal(t, []string{"A=2", "B=[/run/rules]"}, env)
	require.False(t, (&Profile{}).Connects())
}

// What a user says for the agent's own sandbox is replaced or refused, and only that.
func TestWithoutOwnSandbox(t *testing.T) {
	p := &Profile{Program: "x", OwnSandbox: map[string]string{"--box tight": "--box off", "-b": "--box off", "--box none": ""}}
	for said, want := range map[string]string{
		"a --box tight b": "a --box off b",
		"a --box=tight":   "a --box off",
		"-b":              "--box off",
		"--box off":       "--box off",
		"tight --box":     "tight --box",
		"--boxes tight":   "--boxes tight",
		"--box none":      "",
		"--box=none a":    "",
	} {
		own, changed, err := p.WithoutOwnSandbox(strings.Fields(said))
		if want == "" {
			require.ErrorContains(t, err, "'--box none' asks for one")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, strings.Fields(want), own)
		require.Equal(t, said != want, len(changed) > 0)
	}
}

// What tells the rules is made in a home as often as it is missing or changed, and
// never outside of it.
func TestTellIn(t *testing.T) {
	home, outside := t.TempDir(), t.TempDir()
	p := &Profile{TellHome: map[string]string{"a/b/text": "words", "a/link": "{file}"}}
	require.NoError(t, (&Profile{}).TellIn(filepath.Join(home, "missing"), Told{File: "/run/rules"}))
	for range 2 {
		require.NoError(t, p.TellIn(home, Told{File: "/run/rules"}))
		text, err := os.ReadFile(filepath.Join(home, "a/b/text"))
		require.NoError(t, err)
		require.Equal(t, "words", string(text))
		to, err := os.Readlink(filepath.Join(home, "a/link"))
		require.NoError(t, err)
		require.Equal(t, "/run/rules", to)
		require.NoError(t, os.WriteFile(filepath.Join(home, "a/b/text"), []byte("changed"), 0o600))
		require.NoError(t, os.Remove(filepath.Join(home, "a/link")))
		require.NoError(t, os.Symlink("elsewhere", filepath.Join(home, "a/link")))
	}

	require.NoError(t, os.WriteFile(filepath.Join(outside, "file"), []byte("mine"), 0o600))
	require.NoError(t, os.Remove(filepath.Join(home, "a/b/text")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "file"), filepath.Join(home, "a/b/text")))
	require.NoError(t, p.TellIn(home, Told{File: "/run/rules"}), "the link itself is replaced")
	text, err := os.ReadFile(filepath.Join(outside, "file"))
	require.NoError(t, err)
	require.Equal(t, "mine", string(text))

	if runtime.GOOS == "linux" { // nobody writes to a FIFO, and nothing waits for that
		require.NoError(t, os.Remove(filepath.Join(home, "a/b/text")))
		require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", filepath.Join(home, "a/b/text")).Run())
		require.NoError(t, p.TellIn(home, Told{File: "/run/rules"}))
		text, err = os.ReadFile(filepath.Join(home, "a/b/text"))
		require.NoError(t, err)
		require.Equal(t, "words", string(text))
	}

	require.NoError(t, os.RemoveAll(filepath.Join(home, "a")))
	require.NoError(t, os.Symlink(outside, filepath.Join(home, "a")))
	require.Error(t, p.TellIn(home, Told{File: "/run/rules"}))
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
