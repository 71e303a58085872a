package shellshape

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Command is a command that is known whole.
type Command struct{ Parts []Part }

// Part is one program of a command.
type Part struct {
	// Argv are the words that it is started with.
	Argv []string
	// Class is what it is for.
	Class Class
	// Uses are the places that it reads, lists and writes.
	Uses []Use
	// Repository says that it reads git's configuration: it is known only in the
	// work tree of the project's own repository.
	Repository bool
	// Nested says that it runs git in submodules, by their own configuration.
	Nested bool
	// Passes says that it only passes on what another part pipes into it.
	Passes bool
}

// Name is what it is called in messages: the program, with its subcommand.
func (p Part) Name() string { return strings.Join(p.Argv[:min(2, len(p.Argv))], " ") }

// Use is one thing that a program does to a place.
type Use struct {
	Show Show
	// Path is as the command has it: relative to the working directory, or to
	// the top of the repository where InTree says so.
	Path   string
	InTree bool
	// Dots says that a listing shows names that begin with a dot.
	Dots bool
	// Maybe says that the word may be something else than a path, as a branch's
	// name: no file need be there.
	Maybe bool
}

// Show is what is done to a place.
type Show string

// What is done to a place.
const (
	Look         Show = "look"          // it is named: its content is not shown
	Entries      Show = "entries"       // the names in it
	Names        Show = "names"         // the names beneath it
	File         Show = "file"          // what it holds; of a directory, all beneath it
	Contents     Show = "contents"      // what all files beneath hold
	Write        Show = "write"         // the file is made or changed
	WriteBeneath Show = "write beneath" // a file beneath is, which one is not told
)

var shows = map[level]Show{nothing: Look, entries: Entries, names: Names, files: File, contents: Contents}

// UnknownError is why a command is not known.
type UnknownError struct{ Why string }

func (e *UnknownError) Error() string { return e.Why }

func unknownf(format string, args ...any) error { return &UnknownError{fmt.Sprintf(format, args...)} }

// Read reads a command. The error is an *UnknownError; the parts that are known
// are returned with it, too: that one of them is refused does not depend on the
// others.
func Read(command string) (Command, error) {
	parts, err := parse(command)
	if err != nil {
		return Command{}, unknownf("%v", err)
	}
	var c Command
	var unknown error
	for _, p := range parts {
		known, err := match(p)
		if err != nil {
			unknown = errors.Join(unknown, err)
			continue
		}
		c.Parts = append(c.Parts, known)
	}
	if unknown != nil {
		return c, unknownf("%v", unknown)
	}
	return c, nil
}

// option is one entry of shape.options.
type option struct {
	kind     string // of its value; "" for none
	optional bool   // the value, which then is joined
	raises   level
	dots     bool
}

// compiled is the table with its options read, by the first word.
var compiled = sync.OnceValue(func() map[string][]*reading {
	programs := map[string][]*reading{}
	for i := range table {
		r := &reading{shape: &table[i], head: strings.Fields(table[i].head), options: map[string]option{}}
		for _, o := range strings.Fields(table[i].options) {
			o, raises, _ := strings.Cut(o, "!")
			name, kind, _ := strings.Cut(o, "=")
			name, optional := strings.CutSuffix(name, "?")
			entry := option{kind: kind, optional: optional, dots: raises == "dots"}
			switch raises {
			case "names":
				entry.raises = names
			case "contents":
				entry.raises = contents
			}
			r.options[name] = entry
		}
		programs[r.head[0]] = append(programs[r.head[0]], r)
	}
	return programs
})

// reading is a shape, and what was read of a command by it.
type reading struct {
	*shape
	head    []string
	options map[string]option
}

// seen is what was read of one command.
type seen struct {
	*reading
	used     []string
	operands []string // with "--" where it stood
	level    level
	dots     bool
	uses     []Use
	named    bool // a path was named, which bounds what is shown
	object   bool // an object was named by its path, and
	whole    bool // one without
}

func match(p part) (Part, error) {
	argv := p.argv
	if argv[0] == "git" { // no other of git's own options is known
		for len(argv) > 1 && (argv[1] == "--no-pager" || argv[1] == "-P") {
			argv = append([]string{"git"}, argv[2:]...)
		}
	}
	var of *reading
	for _, r := range compiled()[argv[0]] {
		if len(argv) >= len(r.head) && slices.Equal(argv[:len(r.head)], r.head) && (of == nil || len(r.head) > len(of.head)) {
			of = r
		}
	}
	if of == nil {
		return Part{}, unknownf("no shape of %q is known", strings.Join(argv[:min(len(argv), 2)], " "))
	}
	s := seen{reading: of, level: of.shows}
	if err := s.split(argv[len(of.head):]); err != nil {
		return Part{}, unknownf("%s: %v", of.shape.head, err)
	}
	if of.needs != "" && !slices.ContainsFunc(strings.Fields(of.needs), func(o string) bool { return slices.Contains(s.used, o) }) && !slices.Contains(s.used, "-am") {
		return Part{}, unknownf("%s: it is known with %s only", of.shape.head, strings.Join(strings.Fields(of.needs), " or "))
	}
	if err := s.place(); err != nil {
		return Part{}, unknownf("%s: %v", of.shape.head, err)
	}
	s.writes()
	return Part{Argv: argv, Class: of.class, Uses: s.uses, Repository: of.repository, Nested: s.nested(), Passes: of.filter && p.piped && len(s.uses) == 0}, nil
}

// nested reports whether git compares submodules, for which it runs itself there.
func (s *seen) nested() bool {
	switch s.shape.head {
	case "git status", "git diff":
		return true
	case "git commit":
		return s.level >= names // -a
	}
	return false
}

// split tells options from operands.
func (s *seen) split(args []string) error {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		next := func() (string, bool) {
			if i+1 == len(args) {
				return "", false
			}
			i++
			return args[i], true
		}
		switch {
		case arg == "":
			return errors.New("an empty word")
		case s.style == findLike && len(s.used) > 0 && arg[0] != '-' && arg != "(" && arg != ")" && arg != "!":
			return fmt.Errorf("%q stands after its expression began", arg)
		case s.style == findLike && (arg == "(" || arg == ")" || arg == "!"):
			s.used = append(s.used, arg)
		case arg == "--" && s.style != findLike && s.style != golang:
			s.operands = append(s.operands, args[i:]...)
			return nil
		case arg == "-" || arg[0] != '-':
			s.operands = append(s.operands, arg)
		case s.style == golang:
			if err := s.goOption(arg, next); err != nil {
				return err
			}
		default:
			if err := s.option(arg, next); err != nil {
				return err
			}
		}
	}
	return nil
}

func unknownOption(arg string) error { return fmt.Errorf("option %q is not known", arg) }

// goOption is one of Go's package flag: one dash or two.
func (s *seen) goOption(arg string, next func() (string, bool)) error {
	name, value, joined := strings.Cut("-"+strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
	o, ok := s.options[name]
	switch {
	case !ok, joined && o.kind == "":
		return unknownOption(arg)
	case !joined && o.kind != "" && !o.optional:
		if value, ok = next(); !ok {
			return unknownOption(arg)
		}
	case !joined:
		return s.take(name, o, "")
	}
	return s.take(name, o, value)
}

func (s *seen) option(arg string, next func() (string, bool)) error {
	if o, ok := s.options[arg]; ok {
		if o.kind == "" || o.optional {
			return s.take(arg, o, "")
		}
		value, ok := next()
		// Where a value may not stand apart, the program reads it as an option.
		if !ok || strings.HasPrefix(value, "-") && s.style != findLike {
			return fmt.Errorf("option %q has no value that is known", arg)
		}
		return s.take(arg, o, value)
	}
	if o, ok := s.options["-NUM"]; ok && number().MatchString(arg[1:]) {
		return s.take("-NUM", o, "")
	}
	if strings.HasPrefix(arg, "--") {
		name, value, joined := strings.Cut(arg, "=")
		o, ok := s.options[name]
		if !ok || !joined || o.kind == "" {
			return unknownOption(arg)
		}
		return s.take(name, o, value)
	}
	if s.style == findLike {
		return unknownOption(arg)
	}
	return s.letters(arg, next)
}

// letters reads options of one letter each, of which the last may have a value.
func (s *seen) letters(arg string, next func() (string, bool)) error {
	for rest := arg[1:]; rest != ""; {
		name := "-" + rest[:1]
		o, ok := s.options[name]
		if !ok || s.style == single && o.kind == "" { // joined letters
			return unknownOption(arg)
		}
		rest = rest[1:]
		if o.kind == "" || o.optional && rest == "" {
			if err := s.take(name, o, ""); err != nil {
				return err
			}
			continue
		}
		if rest == "" {
			if rest, ok = next(); !ok || strings.HasPrefix(rest, "-") {
				return fmt.Errorf("option %q has no value that is known", arg)
			}
		}
		return s.take(name, o, rest)
	}
	return nil
}

// take notes an option. value is "" where it has none.
func (s *seen) take(name string, o option, value string) error {
	s.used = append(s.used, name)
	s.level = max(s.level, o.raises)
	s.dots = s.dots || o.dots
	if o.kind == "" || o.optional && value == "" {
		return nil
	}
	switch o.kind {
	case "file":
		return s.path(Use{Show: File, Path: value})
	case "write":
		return s.path(Use{Show: Write, Path: value})
	}
	if !kinds()[o.kind].MatchString(value) {
		return fmt.Errorf("%q is no value for %q that is known", value, name)
	}
	return nil
}

var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{1,9}$`) })

// kinds are the words that a kind has, whole. Those that are not here are paths. They
// are compiled when they are asked: each start of pinfold is several processes.
var kinds = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"num":      regexp.MustCompile(`^[0-9]{1,9}%?$`),
		"count":    regexp.MustCompile(`^[+-]?[0-9]{1,15}[kKMGbcw]?$`),
		"word":     regexp.MustCompile(`^[A-Za-z0-9_+-][A-Za-z0-9_.,:+-]*$`),
		"text":     regexp.MustCompile(`^(?s:.*)$`),
		"rev":      regexp.MustCompile(`^(?:\^?[A-Za-z0-9_@][A-Za-z0-9_./@~^+-]*(?:\{[A-Za-z0-9-]*\}[A-Za-z0-9_./@~^+-]*)*)$`),
		"range":    regexp.MustCompile(`^[0-9]*,?[+-]?[0-9]*$`),
		"lines":    regexp.MustCompile(`^[0-9]+(,([0-9]+|\$))?p$`),
		"target":   regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_./-]*$`),
		"script":   regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:-]*$`),
		"date":     regexp.MustCompile(`^\+[A-Za-z0-9%_.:/ -]*$`),
		"variable": regexp.MustCompile(`^[A-Z0-9_]+$`),
		"packages": regexp.MustCompile(`^[A-Za-z0-9_./,-]+$`),
	}
})

// place says of each operand what it is.
func (s *seen) place() error {
	want := strings.Fields(s.shape.operands)
	if slices.ContainsFunc(strings.Fields(s.pattern), func(o string) bool { return slices.Contains(s.used, o) }) {
		want = want[1:]
	}
	dashed := false
	for _, operand := range s.operands {
		if operand == "--" && !dashed {
			if dashed = true; !strings.Contains(s.shape.operands, "path") { // the rest is another program's
				return errors.New(`what follows "--"`)
			}
			if i := slices.Index(want, "--"); i >= 0 {
				want = want[i+1:]
			}
			continue
		}
		if operand == "" || operand[0] == '-' && operand != "-" && !dashed {
			return fmt.Errorf("operand %q", operand)
		}
		if len(want) == 0 || want[0] == "--" {
			return fmt.Errorf("operand %q is one more than is known", operand)
		}
		kind, many := strings.CutSuffix(want[0], "*")
		if operand[0] == '-' && kind != "path" {
			return fmt.Errorf("operand %q", operand)
		}
		if err := s.operand(kind, operand); err != nil {
			return err
		}
		if !many {
			want = want[1:]
		}
	}
	if !s.named && (!s.object || s.whole) && s.level != nothing && s.level != files {
		s.uses = append(s.uses, Use{Show: shows[s.level], Path: ".", InTree: s.repository, Dots: s.dots || s.repository})
	}
	return nil
}

func (s *seen) operand(kind, operand string) error {
	switch kind {
	case "path":
		s.named = true
		if operand == "-" && s.level == files && !s.repository {
			return nil // standard input
		}
		show := shows[s.level]
		if s.level == nothing {
			show = Names
		}
		return s.path(Use{Show: show, Path: operand, Dots: s.dots || s.repository})
	case "rev", "object":
		if rev, path, colon := strings.Cut(operand, ":"); kind == "object" && colon {
			if rev != "" && !kinds()["rev"].MatchString(rev) {
				return fmt.Errorf("revision %q", rev)
			}
			return s.inTree(path)
		}
		s.whole = true
		if !kinds()["rev"].MatchString(operand) {
			return fmt.Errorf("%q is no revision that is known", operand)
		}
		if s.repository && !slices.Contains(s.operands, "--") { // git takes it for a path where it is none of its revisions
			s.uses = append(s.uses, Use{Show: shows[max(s.level, names)], Path: operand, Maybe: true, Dots: true})
		}
		return nil
	case "package", "pytest":
		path := operand
		if kind == "pytest" {
			path, _, _ = strings.Cut(operand, "::")
		}
		return s.packageAt(kind, path)
	}
	if !kinds()[kind].MatchString(operand) {
		return fmt.Errorf("%q is no %s that is known", operand, kind)
	}
	if kind == "target" && slices.Contains(strings.Split(operand, "/"), "..") {
		return fmt.Errorf("target %q", operand)
	}
	return nil
}

// inTree is a path in a revision's tree. It is no path of the work tree: no link
// leads it on.
func (s *seen) inTree(path string) error {
	s.object = true
	for _, name := range strings.Split(path, "/") {
		if path != "" && (name == "" || name == "." || name == ".." || strings.Contains(name, ":")) {
			return fmt.Errorf("the path %q of a revision", path)
		}
	}
	if path == "" {
		s.whole = true
		return nil
	}
	s.uses = append(s.uses, Use{Show: File, Path: path, InTree: true, Dots: true})
	return nil
}

// packageAt is what tests are run of. Beneath it may lie more than one.
func (s *seen) packageAt(kind, path string) error {
	if kind == "package" {
		if path != "." && path != "./..." && !strings.HasPrefix(path, "./") {
			return fmt.Errorf("package %q does not begin with ./", path)
		}
		path = strings.TrimSuffix(strings.TrimSuffix(path, "..."), "/")
		if strings.Contains(path, "...") || strings.Contains(path, "@") {
			return fmt.Errorf("package %q", path)
		}
	}
	return s.path(Use{Show: Look, Path: path})
}

// path adds a use of a path that the command names.
func (s *seen) path(u Use) error {
	switch {
	case u.Path == "" || strings.HasPrefix(u.Path, "~") || strings.HasPrefix(u.Path, "@"):
		return fmt.Errorf("path %q", u.Path)
	case s.repository && (strings.HasPrefix(u.Path, ":") || strings.ContainsAny(u.Path, `*?[\`)):
		return fmt.Errorf("the pattern %q stands for more than one path", u.Path)
	case strings.ContainsAny(u.Path, "\n\t"):
		return fmt.Errorf("path %q", u.Path)
	}
	s.uses = append(s.uses, u)
	return nil
}

// writes adds what the shape writes whatever its operands are.
func (s *seen) writes() {
	switch s.shape.writes {
	case ".":
		s.uses = append(s.uses, Use{Show: WriteBeneath, Path: "."})
	case ".git":
		s.uses = append(s.uses, Use{Show: Write, Path: ".git/index.lock", InTree: true})
	}
}
