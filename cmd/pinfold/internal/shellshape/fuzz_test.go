package shellshape

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

// quoted is a command that starts a program with just these words.
func quoted(t require.TestingT, argv []string) string {
	var words []string
	for _, word := range argv {
		text, err := syntax.Quote(word, syntax.LangPOSIX)
		require.NoError(t, err)
		words = append(words, text)
	}
	return strings.Join(words, " ")
}

// checkKnown holds what a command that is known must satisfy: each of its programs,
// written anew, is the same program with the same words and the same places; and
// every word is the program, an option of the table, a value of one, or an operand.
func checkKnown(t require.TestingT, command string) {
	c, err := Read(command)
	if err != nil {
		return
	}
	for _, p := range c.Parts {
		again, err := Read(quoted(t, p.Argv))
		require.NoError(t, err, "%q", command)
		require.Len(t, again.Parts, 1)
		require.Equal(t, p.Argv, again.Parts[0].Argv, "%q", command)
		require.Equal(t, p.Uses, again.Parts[0].Uses, "%q", command)
		require.True(t, accounted(p.Argv), "%q: %q", command, p.Argv)
	}
}

// takesValue reports whether the word after an option is its value.
func (s *shape) takesValue(option string) bool {
	return slices.ContainsFunc(strings.Fields(s.options), func(o string) bool { return strings.HasPrefix(o, option+"=") })
}

// accounted reports whether a shape has every option of a command, found in another
// way than match does: from the text of the table.
func accounted(argv []string) bool {
	for _, s := range table {
		head := strings.Fields(s.head)
		if len(argv) < len(head) || !slices.Equal(head, argv[:len(head)]) {
			continue
		}
		words := argv[len(head):]
		unknown := slices.IndexFunc(words, func(w string) bool { return !s.has(w) })
		// The value of an option may look like one, as in find -name --x.
		for unknown > 0 && s.takesValue(words[unknown-1]) {
			next := slices.IndexFunc(words[unknown+1:], func(w string) bool { return !s.has(w) })
			if next < 0 {
				unknown = next
				break
			}
			unknown += 1 + next
		}
		if end := slices.Index(words, "--"); unknown < 0 || end >= 0 && end <= unknown {
			return true
		}
	}
	return false
}

// has reports whether a word is no option, or one of the shape.
func (s *shape) has(word string) bool {
	if word == "-" || word == "--" || word[0] != '-' || s.style == findLike && strings.Trim(word[1:], "0123456789") == "" {
		return true
	}
	for _, o := range strings.Fields(s.options) {
		o, _, _ = strings.Cut(o, "!")
		name, kind, valued := strings.Cut(o, "=")
		name = strings.TrimSuffix(name, "?")
		switch given, _, joined := strings.Cut(word, "="); {
		case word == name, s.style == golang && "-"+name == word, valued && kind != "" && joined && (given == name || s.style == golang && given == "-"+name):
			return true
		case name == "-NUM" && strings.Trim(word[1:], "0123456789") == "":
			return true
		case len(name) == 2 && name[1] != '-' && strings.HasPrefix(word, name) && s.style != golang && s.style != findLike:
			return true // its first letter is known: the others are by match alone
		}
	}
	return s.style == findLike && strings.HasPrefix(word, "-") && len(word) < 6 // a value such as -7d
}

// FuzzRead holds it for whatever a fuzzer writes.
func FuzzRead(f *testing.F) {
	for _, command := range append(slices.Clone(dangers), "git log -p -- src | head -n 3", `grep -rn "a b" 'src' && ls -la; cat -- -x`) {
		f.Add(command)
	}
	f.Fuzz(func(t *testing.T, command string) { checkKnown(t, command) })
}

// fragments are what random commands are made of.
var fragments = func() (list []string) {
	for _, s := range table {
		list = append(list, s.head)
		for _, o := range strings.Fields(s.options) {
			o, _, _ = strings.Cut(o, "!")
			name, _, _ := strings.Cut(o, "=")
			list = append(list, strings.TrimSuffix(name, "?"))
		}
	}
	return append(list, "src", "a.txt", "HEAD", "HEAD:src/a", "./...", "main..dev", "1,5p", "+%F", "20", "=x", "'a b'", `"c d"`, "''", "x'y'z", "--", "-", "|", "&&", "||", ";", "\n", "2>&1", ">/dev/null",
		"$x", "*", "~", "{a,b}", "!", "#", "\\", "&", "<", "(", "`", "\t", "é", "'$x'", `'\n'`, "@{u}", "'@{u}'", "HEAD~1", "a=b", "=", ":", "%", "^", ",")
}()

func randomCommand(t *rapid.T) string {
	head := rapid.SampledFrom(table).Draw(t, "program").head
	var b strings.Builder
	b.WriteString(head)
	for range rapid.IntRange(0, 6).Draw(t, "words") {
		b.WriteString(rapid.SampledFrom([]string{" ", " ", " ", " ", ""}).Draw(t, "between"))
		b.WriteString(rapid.SampledFrom(fragments).Draw(t, "fragment"))
	}
	return b.String()
}

// Random commands from the table's own words are known only as checkKnown says.
func TestRandomCommands(t *testing.T) {
	known := 0
	rapid.Check(t, func(t *rapid.T) {
		command := randomCommand(t)
		checkKnown(t, command)
		if _, err := Read(command); err == nil {
			known++
		}
	})
	require.NotZero(t, known, "none is known: nothing was shown")
}

// Real shells start the programs of a command that is known with the very words
// that were read, whatever files lie in the directory.
func TestShellsReadTheSame(t *testing.T) {
	dir := t.TempDir()
	bin, here := filepath.Join(dir, "bin"), filepath.Join(dir, "here")
	require.NoError(t, os.Mkdir(bin, 0o755))
	require.NoError(t, os.Mkdir(here, 0o755))
	for _, name := range []string{"a", "b", "HEAD", "HEAD~1", "-x", "main..dev", "1"} { // what a glob could find
		require.NoError(t, os.WriteFile(filepath.Join(here, name), nil, 0o644))
	}
	builtin := map[string]bool{"echo": true, "pwd": true, "true": true} // of the shell
	for _, s := range table {
		program := filepath.Join(bin, strings.Fields(s.head)[0])
		script := "#!/bin/sh\nprintf '%s\\0' \"${0##*/}\" \"$@\" >>" + dir + "/said\nprintf '\\n' >>" + dir + "/said\n"
		require.NoError(t, os.WriteFile(program, []byte(script), 0o755))
	}
	var commands []string
	for seed := 0; len(commands) < 60; seed++ {
		command := rapid.Custom(randomCommand).Example(seed)
		c, err := Read(command)
		if err == nil && !slices.ContainsFunc(c.Parts, func(p Part) bool { return builtin[p.Argv[0]] }) && !strings.ContainsAny(command, "|;&\n") {
			commands = append(commands, command)
		}
	}
	commands = append(commands, `git log --grep 'a b' --author="c d"`, "cat a 2>&1", "sort -t, -k2,2 'x y'", `grep -n '\bfoo' a`, "git show 'stash@{0}'")
	for _, shell := range []string{"bash", "dash"} {
		for _, command := range commands {
			_ = os.Remove(filepath.Join(dir, "said"))
			cmd := exec.CommandContext(t.Context(), shell, "-c", command)
			cmd.Dir, cmd.Env = here, []string{"PATH=" + bin, "HOME=" + dir}
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s: %q: %s", shell, command, out)
			said, err := os.ReadFile(filepath.Join(dir, "said"))
			require.NoError(t, err)
			c, err := Read(command)
			require.NoError(t, err)
			require.Equal(t, strings.Join(c.Parts[0].Argv, "\x00")+"\x00\n", string(said), "%s: %q", shell, command)
		}
	}
}
