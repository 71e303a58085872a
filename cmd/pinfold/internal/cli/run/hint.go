package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/gitbeside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/launchprofile"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// hints tells a person at a terminal, before the command starts, what is likely to
// surprise them.
func (f *runFlags) hints(o *cli.Output, cfg pathresolver.Config, r *pathresolver.Resolver, command []string) {
	f.hintPlace(o, r)
	if f.nested && f.user == "" && os.Geteuid() == 0 {
		o.Hint("--nested is of no use to root, whom the kernel lets start no sandbox inside: add --user NAME")
	}
	for _, line := range f.otherPrograms(o, r, command) {
		o.Hint(pathresolver.EscapePath(line))
	}
	hintInstaller(o, r, command)
	info, err := r.Lstat(".git")
	switch {
	case err != nil:
	case info.Mode().IsRegular() && f.beside == nil && f.Held == nil:
		o.Hint("the git directory of this checkout lies elsewhere and is not there inside; --git opens what git commit needs of it")
	case f.beside != nil && !f.knowsAuthor(f.beside.Resolver, "config"):
		o.Hint("git knows no name and e-mail for commits inside; --git-author gives it yours")
	case info.IsDir():
		writable := resolved.Explain(r, access.OpCreate, ".git/index.lock").Allowed
		list := f.ListHint(".git")
		switch {
		case !writable && list != "":
			o.Hint(".git is read-only inside; for git commit to work, " + list)
		case !writable:
			o.Hint(".git is read-only inside; --git lets git commit work")
		case !f.knowsAuthor(r, ".git/config"):
			o.Hint("git knows no name and e-mail for commits inside; --git-author gives it yours")
		}
	}
	if h, found := gitbeside.HiddenInHistory(cfg, r, append(slices.Clone(f.ro), cfg.GitDirs...)); found {
		o.Hint(h.String() + " and can be read from git's history, as by '" + h.Shows() + "': " + gitbeside.HistoryAdvice)
	}
	tellGitRuns(o, r)
	if f.Held == nil && f.profile == nil && f.reach.net == "" { // a profile's line says it
		o.Hint("the command has your network, the services of localhost included; --net none takes it away, --allow-host NAME leaves it that host alone")
	}
	for _, c := range launcher.Credentials(os.Environ()) {
		if place, in := placeIn(r, c.Path); in {
			o.Warning(fmt.Sprintf("$%s names '%s', which lies in the project and can be read there", c.Variable, pathresolver.EscapePath(place)))
			o.Hint("--hide '" + pathresolver.EscapePath(hostfile.EscapeGlob(place)) + "' hides it")
		}
	}
	if f.home != "" {
		if program := findSetID(f.home); program != "" {
			o.Warning(fmt.Sprintf("%q runs with the rights of its owner, whoever starts it: a run does not make such a file, but this one was in --home before (chmod a-s takes that away)", program))
		}
	}
	if !launcher.SocketsRefused() {
		if socket := findSocket(append(slices.Clone(f.ro), f.home)); socket != "" {
			o.Warning(fmt.Sprintf("%q is a socket that the command can connect to", socket))
		}
	}
}

// tellGitRuns warns of what git on the host runs that the command may write: of the first,
// and how many others there are.
func tellGitRuns(o *cli.Output, r *pathresolver.Resolver) {
	list := slices.DeleteFunc(r.Warnings(), func(v pathresolver.Violation) bool { return v.Code != pathresolver.CodeGitRuns })
	if len(list) == 0 {
		return
	}
	more := ""
	if len(list) > 1 {
		more = fmt.Sprintf(" ('pinfold check' tells %d more)", len(list)-1)
	}
	o.Warning(list[0].Message + more)
	o.Hint(list[0].Hint)
}

// placeIn is where a file of the host that exists lies in the project, if the
// rules let it be read there.
func placeIn(r *pathresolver.Resolver, file string) (place string, in bool) {
	real, exists, err := hostpath.Place(file)
	if err != nil || !exists {
		return "", false
	}
	place, in = hostpath.Beneath(real, r.Root())
	place = filepath.ToSlash(place)
	return place, in && place != "." && resolved.Explain(r, access.OpRead, place).Allowed
}

// author matches a setting of user.email in a configuration of git.
var author = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?mi)^\s*email\s*=`) })

// knowsAuthor reports whether git will find an author inside, as far as can be
// told by looking: in the environment, or in a file that is shown, of which
// config is the repository's own.
func (f *runFlags) knowsAuthor(r *pathresolver.Resolver, config string) bool {
	for _, kv := range f.env {
		if key, _, _ := strings.Cut(kv, "="); key == "GIT_AUTHOR_EMAIL" || key == "EMAIL" {
			return true
		}
	}
	if text, err := r.ReadFile(config); err == nil && author().Match(text) {
		return true
	}
	if author().Match(f.authorConfig()) {
		return true
	}
	home, _ := os.UserHomeDir()
	files := []string{"/etc/gitconfig"}
	for _, name := range []string{".gitconfig", ".config/git/config"} {
		outside := filepath.Join(home, name)
		shown := func(ro string) bool {
			abs, err := filepath.Abs(ro)
			return err == nil && (outside == abs || strings.HasPrefix(outside, abs+"/"))
		}
		switch {
		case slices.ContainsFunc(f.ro, shown):
			files = append(files, outside)
		case f.home != "":
			files = append(files, filepath.Join(f.home, name))
		}
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && author().Match(text)
	})
}

// maxLooked is how many names are looked at for a socket: enough for a
// directory that is there for one, and no more time than a person notices.
const maxLooked = 2000

// findSocket returns a socket that lies beneath one of dirs, or "".
func findSocket(dirs []string) (socket string) {
	looked := 0
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			looked++
			switch {
			case looked > maxLooked || socket != "":
				return filepath.SkipAll
			case err != nil:
				return nil
			case d.Type()&os.ModeSocket != 0:
				socket = path
			}
			return nil
		})
	}
	return socket
}

// hintOutside is what to do about a command that was not found inside: the line that
// shows it there, where what it is made of can be told.
func (f *runFlags) hintOutside(a *cli.App, r *pathresolver.Resolver, command string) string {
	outside, err := exec.LookPath(command)
	if err == nil {
		outside, err = filepath.Abs(outside)
	}
	switch {
	case err != nil && strings.Contains(command, "/"):
		return "there is no program of that name outside either"
	case err != nil:
		return "it is not in $PATH outside either"
	}
	is := fmt.Sprintf("outside it is %q", outside)
	if real, err := filepath.EvalSymlinks(outside); err == nil && real != outside {
		is += fmt.Sprintf(", a link to %q", real)
	}
	if name, _ := launchprofile.Interpreter(outside); name != "" && !strings.HasPrefix(name, "/usr/") && !strings.HasPrefix(name, "/bin/") {
		is += fmt.Sprintf(", a script for %q", name)
	}
	found, err := launchprofile.Find(hostOf(a.Out, r.Root()), command, nil, nil)
	if err != nil || len(found.Show) == 0 || len(a.Args) == 0 {
		return is + ": --ro shows more of the host inside"
	}
	line := []string{"pinfold", a.Args[0]}
	for _, path := range found.Show {
		line = append(line, "--ro", path)
	}
	return is + ": " + cli.ShellLine(append(line, a.Args[1:]...))
}

// nestedError explains a set-up that failed for being inside another run. What a flag
// names and is not there has nothing to do with that.
func nestedError(err error) error {
	var failed *launcher.SetupError
	if !inside.Run() || !errors.As(err, &failed) || strings.HasPrefix(failed.Step, "show ") ||
		!errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	hint := "this is inside 'pinfold run' already: give that one --nested to start another in it, as an ordinary user"
	if os.Geteuid() == 0 {
		hint = "this is inside root's 'pinfold run' already, where the kernel lets root start no other: give that one --nested --user NAME"
	} else if inside.Nested() {
		return err
	}
	// Without the hint for a system that lacks something.
	return &cli.ExitError{Code: cli.ExitRunOwn, Err: errors.New(err.Error()), Hint: hint}
}

// explained is the error of a set-up with what is in its way, if that is known.
func (f *runFlags) explained(err error) error {
	if hint := f.inTheWay(); hint != "" {
		return &cli.ExitError{Code: cli.ExitRunOwn, Err: err, Hint: hint}
	}
	return nestedError(err)
}

// inTheWay is a hint about what the home that is kept has where a path of yours is to be
// shown in it; "" for nothing.
func (f *runFlags) inTheWay() string {
	home, err := os.UserHomeDir()
	if f.home == "" || err != nil {
		return ""
	}
	for _, path := range f.ro {
		rest, in := hostpath.Beneath(path, home)
		if !in {
			continue
		}
		at, shown := f.home, home
		for part := range strings.SplitSeq(rest, "/") {
			at, shown = filepath.Join(at, part), filepath.Join(shown, part)
			kept, missing := os.Lstat(at)
			if missing != nil {
				break // it is made
			}
			meant, err := os.Stat(shown)
			own, err2 := os.Lstat(shown)
			if err != nil || err2 != nil {
				break // it is not there to be shown
			}
			link := kept.Mode()&fs.ModeSymlink != 0 // which a run makes for one of yours
			if link && own.Mode()&fs.ModeSymlink == 0 || !link && kept.IsDir() != meant.IsDir() {
				return fmt.Sprintf("a run has left '%s', where '%s' is to be shown: move it away", pathresolver.EscapePath(at), pathresolver.EscapePath(shown))
			}
		}
	}
	return ""
}

// findSetID returns a file beneath dir with a set-user-id or set-group-id bit, or
// "". A run cannot make one in its home, but what was there before stays. The
// directories that are nearest are looked at first, and no more than maxLooked
// names.
func findSetID(dir string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }() // was only read
	looked := 0
	for queue := []string{"."}; len(queue) > 0; queue = queue[1:] {
		at, err := root.Open(queue[0])
		if err != nil {
			continue
		}
		entries, _ := at.ReadDir(maxLooked + 1 - looked) // what it could read
		_ = at.Close()                                   // likewise
		for _, e := range entries {
			if looked++; looked > maxLooked {
				return ""
			}
			name := path.Join(queue[0], e.Name())
			if e.IsDir() {
				queue = append(queue, name)
				continue
			}
			// Links have no mode of their own, and are not followed.
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
				return path.Join(dir, name)
			}
		}
	}
	return ""
}
