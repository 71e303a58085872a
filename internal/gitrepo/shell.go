package gitrepo

import (
	"path/filepath"
	"strings"
)

// role is what a word is to a shell.
type role int

const (
	roleArgument role = iota
	roleCommand       // it is run
	roleScript        // an interpreter that was named before runs it
	roleTarget        // of a redirection
)

// word is one word of a command.
type word struct {
	text string
	// unknown is where in text something begins that only the shell will know,
	// -1 if nothing does.
	unknown int
	data    bool // what is unknown comes from git and is no program: $1, $@, $LOCAL
	role    role
	quoted  bool // all of it stood in quotes
	assign  bool // it sets a variable for the command that follows
	entered bool // it names a directory to which the command changes
	part    int  // which simple command of the text it belongs to
}

// shellReader reads a command as sh(1) does, as far as that is needed to see
// which words name files. What it is in doubt about it gives as one word more.
type shellReader struct {
	in    *inspector
	text  string
	at    int
	words []word
	inner []string // commands inside the command: $(...) and `...`

	word   word
	begun  bool
	role   role
	part   int
	after  role            // the role after a redirection's target
	option bool            // the word before was an option of an interpreter, which may have a value
	vars   map[string]word // what the command itself assigns
}

// dataVariables are what git sets for the programs that it runs (git(1),
// githooks(5), git-mergetool(1)) and is no program itself.
var dataVariables = map[string]bool{
	"LOCAL": true, "REMOTE": true, "BASE": true, "MERGED": true, "BACKUP": true,
	"FILENAME": true, "REVISION": true, "ARGS": true, "CUR_BRANCH": true,
	"GIT_PREFIX": true, "ARG": true, "GIT_DIFF_PATH_COUNTER": true,
	"GIT_DIFF_PATH_TOTAL": true, "IFS": true,
}

// interpreters run the file that is their argument.
var interpreters = map[string]bool{
	".": true, "source": true, "sh": true, "bash": true, "dash": true,
	"zsh": true, "ksh": true, "mksh": true, "ash": true, "fish": true,
	"busybox": true, "node": true, "nodejs": true, "deno": true, "bun": true,
	"tsx": true, "ts-node": true, "perl": true, "ruby": true, "php": true,
	"lua": true, "luajit": true, "tclsh": true, "pwsh": true, "java": true,
	"Rscript": true, "julia": true, "awk": true, "gawk": true, "mawk": true,
	"sed": true, "jq": true, "make": true, "gmake": true,
}

// wrappers run the command that follows them.
var wrappers = map[string]bool{
	"exec": true, "env": true, "command": true, "builtin": true, "nice": true,
	"nohup": true, "time": true, "sudo": true, "doas": true, "setsid": true,
	"stdbuf": true, "xargs": true, "then": true, "do": true, "else": true,
	"elif": true, "if": true, "while": true, "until": true, "!": true, "{": true,
	"}": true, "eval": true, "fi": true, "done": true, "esac": true, "timeout": true,
}

func isInterpreter(program string) bool {
	name := filepath.Base(program)
	return interpreters[name] || strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy")
}

// readShell splits text into words. bound says that text has more of them than
// maxWords.
func (in *inspector) readShell(text string) (words []word, inner []string, bound bool) {
	s := &shellReader{in: in, text: text, role: roleCommand}
	s.reset()
	for s.at < len(s.text) {
		if len(s.words) > maxWords {
			return nil, nil, true
		}
		s.step()
	}
	s.end()
	return s.words, s.inner, false
}

func (s *shellReader) reset() {
	s.word, s.begun = word{unknown: -1, quoted: true}, false
}

func (s *shellReader) add(text string) {
	s.word.text += text
	s.begun = true
}

// open marks that what follows in the word is not known.
func (s *shellReader) open(data bool) {
	s.begun = true
	if s.word.unknown < 0 {
		s.word.unknown, s.word.data = len(s.word.text), data
	}
}

// end ends a word, and sees what the next one is.
func (s *shellReader) end() {
	if !s.begun {
		return
	}
	w := s.word
	s.reset()
	w.role, w.part = s.role, s.part
	s.words = append(s.words, w)
	switch {
	case s.role == roleTarget:
		s.role = s.after
	case s.role == roleCommand:
		name, _, isAssign := strings.Cut(w.text, "=")
		switch {
		case isAssign && isName(name):
			s.words[len(s.words)-1].role = roleArgument
			s.words[len(s.words)-1].assign = true
			s.assign(name, w)
		case w.text == "" && w.unknown < 0:
		case w.text != "" && w.unknown != 0 && (w.text[0] == '-' || '0' <= w.text[0] && w.text[0] <= '9'):
			// An option of a wrapper, or its value: timeout 5 x.
		case wrappers[filepath.Base(w.text)]:
		case isInterpreter(w.text):
			s.role = roleScript
		default:
			s.role = roleArgument
		}
	case s.role == roleScript && strings.HasPrefix(w.text, "-"):
		s.option = !strings.Contains(w.text, "=")
	case s.role == roleScript:
		// -r x y, busybox sh x, deno run x: one more word may be the script.
		if !s.option && !isInterpreter(w.text) && w.text != "run" {
			s.role = roleArgument
		}
		s.option = false
	}
}

// assign keeps a variable that the command sets for itself.
func (s *shellReader) assign(name string, w word) {
	if s.vars == nil {
		s.vars = map[string]word{}
	}
	w.text = w.text[len(name)+1:]
	if w.unknown >= 0 {
		w.unknown -= len(name) + 1
	}
	s.vars[name] = w
}

func isName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlpha(c) && c != '_' && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// step reads one character, or one thing that a character begins.
func (s *shellReader) step() {
	c := s.text[s.at]
	switch c {
	case '$', '`':
		s.expand(false)
		return
	case '\'':
		end := strings.IndexByte(s.text[s.at+1:], '\'')
		if end < 0 {
			end = len(s.text) - s.at - 1
		}
		s.add(s.text[s.at+1 : s.at+1+end])
		s.at += end + 2
		return
	case '"':
		s.quotes()
		return
	}
	s.at++
	switch {
	case c == ' ' || c == '\t':
		s.end()
	case strings.IndexByte("\n\r;&|(){}", c) >= 0 && (c != '{' && c != '}' || !s.begun):
		s.end()
		if s.role != roleTarget || c != '&' { // 2>&1
			s.role = roleCommand
			s.part++
		}
	case c == '<' || c == '>':
		s.end()
		if s.role != roleTarget {
			s.after, s.role = s.role, roleTarget
		}
	case c == '#' && !s.begun:
		end := strings.IndexByte(s.text[s.at:], '\n')
		if end < 0 {
			end = len(s.text) - s.at
		}
		s.at += end
	case c == '\\':
		if s.at < len(s.text) {
			if s.text[s.at] != '\n' {
				s.add(s.text[s.at : s.at+1])
			}
			s.at++
		}
		s.word.quoted = false
	case c == '*' || c == '?' || c == '[':
		s.open(false)
		s.add(string(c))
		s.word.quoted = false
	case c == '~' && !s.begun:
		end := s.at
		for end < len(s.text) && strings.IndexByte("/ \t\n;&|()<>\"'$`", s.text[end]) < 0 {
			end++
		}
		home, ok := s.in.tilde(s.text[s.at-1 : end])
		s.at = end
		s.word.quoted = false
		if !ok {
			s.open(false)
			return
		}
		s.add(strings.TrimSuffix(home, "/"))
	default:
		s.add(string(c))
		s.word.quoted = false
	}
}

// quotes reads a string in double quotes.
func (s *shellReader) quotes() {
	s.at++
	s.begun = true
	for s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case '"':
			s.at++
			return
		case '$', '`':
			s.expand(true)
		case '\\':
			s.at++
			if s.at < len(s.text) {
				if strings.IndexByte("$`\"\\\n", s.text[s.at]) < 0 {
					s.add(`\`)
				}
				if s.text[s.at] != '\n' {
					s.add(s.text[s.at : s.at+1])
				}
				s.at++
			}
		default:
			s.at++
			s.add(string(c))
		}
	}
}

// expand reads an expansion: a variable, or a command whose output is used.
func (s *shellReader) expand(quoted bool) {
	rest := s.text[s.at+1:]
	switch {
	case s.text[s.at] == '`':
		end := strings.IndexByte(rest, '`')
		if end < 0 {
			end = len(rest)
		}
		s.at += min(end+2, len(s.text)-s.at)
		s.output(rest[:end])
	case strings.HasPrefix(rest, "(("):
		end := strings.Index(rest, "))")
		if end < 0 {
			end = len(rest) - 2
		}
		s.at += min(end+3, len(s.text)-s.at)
		s.open(true) // a number
	case strings.HasPrefix(rest, "("):
		end := closing(rest)
		s.at += min(end+2, len(s.text)-s.at)
		s.output(rest[1:end])
	case strings.HasPrefix(rest, "{"):
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			end = len(rest)
		}
		s.at += min(end+2, len(s.text)-s.at)
		s.parameter(rest[1:end], quoted)
	default:
		end := 0
		for end < len(rest) && (isAlpha(rest[end]) || rest[end] == '_' || end > 0 && rest[end] >= '0' && rest[end] <= '9') {
			end++
		}
		switch {
		case end > 0:
			s.at += 1 + end
			s.parameter(rest[:end], quoted)
		case rest != "" && strings.IndexByte("0123456789@*#?$!-", rest[0]) >= 0:
			s.at += 2
			s.open(true)
		default:
			s.at++
			s.add("$")
		}
	}
}

// closing is where the parenthesis ends with which text begins.
func closing(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		case '\'':
			if end := strings.IndexByte(text[i+1:], '\''); end >= 0 {
				i += end + 1
			}
		}
	}
	return len(text)
}

// parameter expands a variable.
func (s *shellReader) parameter(name string, quoted bool) {
	instead := ""
	hasInstead := false
	if at := strings.IndexAny(name, ":-=+?%#/"); at >= 0 {
		if name[at:] != "" && (strings.HasPrefix(name[at:], ":-") || name[at] == '-') {
			instead, hasInstead = strings.TrimPrefix(name[at:], ":")[1:], true
		} else if at > 0 && isName(name[:at]) && !dataVariables[name[:at]] {
			s.open(false)
			return
		}
		name = name[:at]
	}
	if set, ok := s.vars[name]; ok && !hasInstead {
		if set.unknown >= 0 {
			s.add(set.text[:set.unknown])
			s.open(set.data)
			s.add(set.text[set.unknown:])
			return
		}
		s.add(set.text)
		return
	}
	switch {
	case !isName(name):
		s.open(true) // a position
	case name == "PWD" || name == "GIT_WORK_TREE":
		s.add(".")
	case name == "HOME" && s.in.env.Home != "":
		s.add(s.in.env.Home)
	case name == "GIT_DIR" && s.in.repo.GitDir != "":
		s.add(s.in.repo.GitDir)
	case name == "GIT_COMMON_DIR" && s.in.repo.CommonDir != "":
		s.add(s.in.repo.CommonDir)
	case dataVariables[name]:
		s.open(true)
	default:
		value := s.in.env.Getenv(name)
		if value == "" && hasInstead {
			value = instead
		}
		if value == "" || strings.ContainsAny(value, "$`") {
			s.open(false)
			return
		}
		if quoted {
			s.add(value)
			return
		}
		for i, field := range strings.Fields(value) {
			if i > 0 {
				s.end()
			}
			s.add(strings.Trim(field, `"'`))
		}
	}
}

// output stands for what a command prints.
func (s *shellReader) output(command string) {
	s.inner = append(s.inner, command)
	fields := strings.Fields(command)
	is := func(want ...string) bool {
		if len(fields) != len(want) {
			return false
		}
		for i := range want {
			if want[i] != fields[i] {
				return false
			}
		}
		return true
	}
	switch {
	case is("pwd"), is("git", "rev-parse", "--show-toplevel"):
		s.add(".")
	case is("git", "rev-parse", "--show-cdup"):
		s.add("./")
	case (is("git", "rev-parse", "--git-dir") || is("git", "rev-parse", "--absolute-git-dir")) && s.in.repo.GitDir != "":
		s.add(s.in.repo.GitDir)
	case is("git", "rev-parse", "--git-common-dir") && s.in.repo.CommonDir != "":
		s.add(s.in.repo.CommonDir)
	case len(fields) == 2 && fields[0] == "which", len(fields) == 3 && fields[0] == "command" && fields[1] == "-v":
		s.add(fields[len(fields)-1]) // $PATH is followed in any case
	case is("git", "--exec-path"), len(fields) > 1 && fields[0] == "brew" && fields[1] == "--prefix":
		s.open(true) // where programs are installed
	default:
		s.open(false)
	}
}
