package launchprofile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/pinfold-dev/pinfold/internal/hostpath"
)

// Host is what Find needs to know of the machine.
type Host struct {
	Path string // as $PATH
	Home string // the user's, absolute, or ""
	// System reports whether every run shows a path anyway.
	System func(path string) bool
	// Unsafe are places that an agent can write, or could: the project and what
	// earlier runs wrote. Nothing in one is followed, or a link there, or the first line
	// of a script, would say what of the host the next run shows.
	Unsafe []string
}

// Installation is a program, and what it is made of.
type Installation struct {
	// Program is what to start: the name, where PATH leads to it inside, or the path.
	Program string `json:"program"`
	// Path is where it was found.
	Path string `json:"path"`
	// Show are the paths of the host that it is made of, but for what lies in system
	// directories. None lies beneath another.
	Show []string `json:"show"`
	// Version is "" where nothing tells it. It is read; nothing is started.
	Version string `json:"version"`
}

// ErrNotFound is the error of Find where there is no such program.
var ErrNotFound = errors.New("not found in $PATH")

// maxFollowed is how many files an installation is followed through: a script, its
// interpreter, and so on.
const maxFollowed = 8

// Find looks for a program as a shell does, then in the places of lookIn, and follows
// what it is made of: links, the npm packages around it, and the interpreter of a
// script. Of the directories of layouts all is shown if it lies in one. A name with a
// slash is the file itself.
func Find(h Host, name string, lookIn, layouts []string) (Installation, error) {
	f := finder{host: h}
	for _, dir := range layouts {
		f.whole = append(f.whole, f.expand(dir))
	}
	for _, dir := range managers {
		f.whole = append(f.whole, f.expand(dir))
	}
	found := name
	if !strings.Contains(name, "/") {
		if found = f.inPath(name); found == "" {
			for _, file := range lookIn {
				if file = f.expand(file); found == "" && f.usable(file) {
					found = file
				}
			}
		}
		if found == "" && len(f.passed) > 0 {
			return Installation{}, fmt.Errorf("%w but for '%s', which lies where agents write", ErrNotFound, f.passed[0])
		}
	}
	if found == "" {
		return Installation{}, ErrNotFound
	}
	found, err := filepath.Abs(found)
	if err != nil {
		return Installation{}, err
	}
	info, err := os.Stat(found)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "follow", Path: found, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return Installation{}, err
	}
	real, err := f.follow(found)
	if err != nil {
		return Installation{}, err
	}
	i := Installation{Program: name, Path: found, Show: f.shown(), Version: versionOf(real)}
	if !f.ledByPath(name, found) {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(found)); err == nil {
			i.Program = filepath.Join(dir, filepath.Base(found))
		}
	}
	return i, nil
}

// managers are the directories of programs that install others, each one installation.
// None keeps a secret there.
var managers = []string{
	"~/.volta", "~/.bun", "~/.asdf", "~/.fnm", "~/.local/share/fnm", "~/.local/share/mise", "~/.local/share/pnpm",
	"~/.pyenv", "~/.rbenv", "~/.nodenv",
	"~/.linuxbrew", "/home/linuxbrew/.linuxbrew", "~/.nix-profile",
}

// finder collects what an installation is made of.
type finder struct {
	host   Host
	whole  []string
	passed []string // programs that lie in an unsafe place
	files  []string // that were followed
	show   []string
}

// expand is a path of a profile; "" where it begins at a home that there is not.
func (f *finder) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if f.host.Home == "" {
			return ""
		}
		return filepath.Join(f.host.Home, rest)
	}
	return filepath.Clean(path)
}

// inPath is the first program of a name in PATH. Entries that are not absolute, and
// programs in unsafe places, are passed over.
func (f *finder) inPath(name string) string {
	for _, dir := range filepath.SplitList(f.host.Path) {
		if file := filepath.Join(dir, name); filepath.IsAbs(dir) && f.usable(file) {
			return file
		}
	}
	return ""
}

func (f *finder) usable(file string) bool {
	info, err := os.Stat(file)
	if file == "" || err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return false
	}
	if f.unsafe(file) {
		f.passed = append(f.passed, file)
		return false
	}
	return true
}

// unsafe reports whether a name leads through a place that an agent can write.
func (f *finder) unsafe(name string) bool {
	path, err := hostpath.Resolve(name)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(append([]string{filepath.Clean(name), path.Real}, path.Links...), func(p string) bool { return lies(p, f.host.Unsafe) })
}

// lies reports whether a path is one of places, or lies beneath one.
func lies(path string, places []string) bool {
	return slices.ContainsFunc(places, func(place string) bool {
		_, in := hostpath.Beneath(path, place)
		return in
	})
}

// ledByPath reports whether PATH leads to the program inside, too: its directory
// stands there by its own name, without links.
func (f *finder) ledByPath(name, found string) bool {
	if strings.Contains(name, "/") {
		return true // as it was named
	}
	dir := filepath.Dir(found)
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && (real == dir || f.host.System(dir)) && slices.Contains(filepath.SplitList(f.host.Path), dir)
}

// follow adds a file and what it needs, and returns where it leads.
func (f *finder) follow(name string) (real string, err error) {
	if slices.Contains(f.files, name) || len(f.files) == maxFollowed {
		return name, nil
	}
	f.files = append(f.files, name)
	if f.unsafe(name) {
		return "", fmt.Errorf("'%s' lies where agents write, or leads there: what it is made of is not followed", name)
	}
	path, err := hostpath.Resolve(name)
	if err != nil {
		return "", err
	}
	real = path.Real
	dir, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return "", err
	}
	f.add(filepath.Join(dir, filepath.Base(name)))
	if around := f.around(real); around != "" {
		f.add(around)
	}
	if prefix := f.nodePrefix(real); prefix != "" {
		f.add(prefix)
	}
	env := VirtualEnv(filepath.Join(dir, filepath.Base(name)))
	if _, holdsHome := hostpath.Beneath(f.host.Home, env); env != "" && !holdsHome {
		f.add(env)
	}
	interpreter, argument := Interpreter(real)
	if filepath.Base(interpreter) == "env" {
		interpreter = f.inPath(argument)
	}
	if filepath.IsAbs(interpreter) {
		if _, err := os.Stat(interpreter); err == nil {
			_, err = f.follow(interpreter)
			return real, err
		}
	}
	return real, nil
}

func (f *finder) add(path string) {
	if !f.host.System(path) && !slices.Contains(f.show, path) {
		f.show = append(f.show, path)
	}
}

// around is the directory that a program is a part of: a layout, or the outermost
// node_modules that it lies in, with the packages that it needs.
func (f *finder) around(real string) string {
	for _, dir := range f.whole {
		place, err := filepath.EvalSymlinks(dir)
		if _, in := hostpath.Beneath(real, place); err == nil && in && dir != "" {
			return place
		}
	}
	if before, _, in := strings.Cut(real, "/node_modules/"); in {
		return before + "/node_modules"
	}
	return ""
}

// nodePrefix is what came with a node that lies outside of the system directories: its
// own tree where it has one, as nvm makes them, and the program alone in a directory
// that other things share.
func (f *finder) nodePrefix(real string) string {
	bin := filepath.Dir(real)
	prefix := filepath.Dir(bin)
	if filepath.Base(real) != "node" || filepath.Base(bin) != "bin" || prefix == filepath.Join(f.host.Home, ".local") {
		return ""
	}
	if _, holdsHome := hostpath.Beneath(f.host.Home, prefix); holdsHome && f.host.Home != "" {
		return ""
	}
	if _, err := os.Stat(filepath.Join(prefix, "lib", "node_modules", "npm")); err != nil {
		return ""
	}
	return prefix
}

// VirtualEnv is the virtual environment of Python's that a program lies in, "" for none:
// the file that makes it one is looked for beside the program, and not where its link leads
// (PEP 405).
func VirtualEnv(program string) string {
	env := filepath.Dir(filepath.Dir(program))
	if info, err := os.Lstat(filepath.Join(env, "pyvenv.cfg")); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return env
}

// shown are the paths of which none lies beneath another.
func (f *finder) shown() []string {
	list := []string{}
	for _, path := range f.show {
		if !slices.ContainsFunc(f.show, func(other string) bool {
			_, in := hostpath.Beneath(path, other)
			return in && path != other
		}) {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}

// Interpreter is what a script's first line names, with its first argument; "" for what is
// none. If that is missing the kernel says that the script is (execve(2)).
func Interpreter(program string) (interpreter, argument string) {
	file, err := os.OpenFile(program, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a FIFO
	if err != nil {
		return "", ""
	}
	defer func() { _ = file.Close() }() // was only read
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", ""
	}
	line, _ := bufio.NewReader(io.LimitReader(file, 256)).ReadString('\n') // more than the kernel reads
	names, script := strings.CutPrefix(line, "#!")
	fields := strings.Fields(names)
	if !script || len(fields) == 0 {
		return "", ""
	}
	for _, word := range fields[1:] { // env -S node --flag
		if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			return fields[0], word
		}
	}
	return fields[0], ""
}

// versioned is how installers name the directory of one version, or its file.
var versioned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/versions?/v?([0-9][0-9A-Za-z.+-]*)(/|$)`) })

// versionOf reads which version lies at a path: of the npm package around it, or as
// the path says.
func versionOf(real string) string {
	if at := strings.LastIndex(real, "/node_modules/"); at >= 0 {
		parts := strings.SplitN(real[at+len("/node_modules/"):], "/", 3)
		dir := parts[0]
		if strings.HasPrefix(dir, "@") && len(parts) > 1 {
			dir += "/" + parts[1]
		}
		data, err := readBounded(real[:at] + "/node_modules/" + dir + "/package.json")
		var pkg struct {
			Version string `json:"version"`
		}
		if err == nil && json.Unmarshal(data, &pkg) == nil && plainVersion().MatchString(pkg.Version) {
			return pkg.Version
		}
	}
	if m := versioned().FindStringSubmatch(real); m != nil {
		return m[1]
	}
	return ""
}

var plainVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9][0-9A-Za-z.+-]{0,63}$`) })

// Existing are the paths of a profile's list that there are, but for those that an agent
// could write.
func (h Host) Existing(paths []string) []string {
	f := finder{host: h}
	var list []string
	for _, path := range paths {
		path = f.expand(path)
		if _, err := os.Stat(path); path != "" && err == nil && !h.System(path) && !f.unsafe(path) {
			list = append(list, path)
		}
	}
	return list
}

// NotFound reports whether an error of Find says that there is no such program.
func NotFound(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, fs.ErrNotExist)
}
