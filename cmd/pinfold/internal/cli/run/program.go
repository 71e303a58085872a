package run

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/launchprofile"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// otherPrograms says in a line each where the command, or the interpreter of the script
// that it is, is another program inside than outside, or lacks packages that it has there:
// most of a home is not shown, and version managers live in it. A command that is not
// found at all is told of when it fails.
func (f *runFlags) otherPrograms(o *cli.Output, r *pathresolver.Resolver, command []string) (lines []string) {
	if f.profile != nil {
		return nil // it was found and is shown
	}
	s := seen{f: f, root: r.Root(), home: homeDir()}
	name := command[0]
	for range 2 { // the command, and the interpreter that env(1) is to find for it
		file := s.outside(name)
		if strings.Contains(name, "/") {
			file = name
			if !filepath.IsAbs(file) {
				file = filepath.Join(s.root, file)
			}
		} else if inside := s.inside(name); inside != "" && file != "" && s.place(file) == "" && !same(file, inside) {
			lines = append(lines, fmt.Sprintf("%s inside is %q, and not %q as outside, which is not shown there: %s", name, inside, file, s.flags(o, name, file)))
		}
		interpreter, argument := launchprofile.Interpreter(file)
		if len(lines) == 0 && python().MatchString(filepath.Base(cmp.Or(interpreter, file))) {
			lines = append(lines, s.packages(file)...)
		}
		if filepath.Base(interpreter) != "env" || argument == "" {
			break
		}
		name = argument
	}
	return lines
}

func homeDir() string {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Clean(home)
}

// seen is what of the host a run shows, as far as programs are looked for in it.
type seen struct {
	f          *runFlags
	root, home string
}

// outside is where PATH leads to a program.
func (s seen) outside(name string) string {
	return first(os.Getenv("PATH"), name, func(file string) string { return file })
}

// inside is where PATH leads to it inside.
func (s seen) inside(name string) string {
	search := os.Getenv("PATH")
	for _, kv := range s.f.env {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			search = value
		}
	}
	return first(search, name, s.place)
}

// first is the first program of a name in a search path; at says where on the host it is.
func first(search, name string, at func(file string) string) string {
	if strings.Contains(name, "/") {
		return ""
	}
	for _, dir := range filepath.SplitList(search) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := at(filepath.Join(dir, name))
		if info, err := os.Stat(file); file != "" && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// place is where a path inside lies on the host; "" where it is not shown.
func (s seen) place(file string) string {
	if rest, in := hostpath.Beneath(file, s.home); in && s.home != "" && s.f.home != "" && !s.shown(file) {
		return filepath.Join(s.f.home, rest)
	}
	if real, err := filepath.EvalSymlinks(file); err != nil || !s.shown(file) || !s.shown(real) {
		return ""
	}
	return file
}

// shown reports whether a path of the host is shown inside.
func (s seen) shown(path string) bool {
	return launcher.System(path) || slices.ContainsFunc(append([]string{s.root}, s.f.ro...), func(dir string) bool {
		abs, err := filepath.Abs(dir)
		_, in := hostpath.Beneath(path, abs)
		return err == nil && in
	})
}

// same reports whether two names are one program. A virtual environment has a link to
// the interpreter of another place, and packages of its own.
func same(a, b string) bool {
	realA, errA := filepath.EvalSymlinks(a)
	realB, errB := filepath.EvalSymlinks(b)
	return a == b || errA == nil && errB == nil && realA == realB && launchprofile.VirtualEnv(a) == launchprofile.VirtualEnv(b)
}

// flags are what shows a program inside.
func (s seen) flags(o *cli.Output, name, file string) string {
	found, err := launchprofile.Find(hostOf(o, s.root), name, nil, nil)
	if err != nil || found.Path != file || len(found.Show) == 0 {
		return "--ro shows more of the host"
	}
	var words []string
	for _, path := range found.Show {
		words = append(words, "--ro", path)
	}
	return cli.ShellLine(words)
}

// python matches the names that its interpreters have.
var python = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^python[0-9.]*$`) })

// packages says that a program of Python's lacks those that the user has installed.
func (s seen) packages(file string) (lines []string) {
	lib := filepath.Join(s.home, ".local", "lib")
	own, err := fs.Glob(os.DirFS(lib), "python3*/site-packages/*")
	if err != nil || len(own) == 0 || s.home == "" || s.f.home != "" || s.shown(lib) || launchprofile.VirtualEnv(file) != "" {
		return nil
	}
	return []string{fmt.Sprintf("Python has no packages of yours inside: %s shows them", cli.ShellLine([]string{"--ro", lib}))}
}
