package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Bounds of what Inspect reads. More of any is an error.
const (
	maxFile      = 1 << 20 // bytes of a configuration or pointer file
	maxFiles     = 64      // configuration files
	maxIncludes  = 10      // files that include each other in turn, as git bounds them
	maxNames     = 4096    // names in a directory that is listed
	maxWorktrees = 1024    // linked worktrees
	maxNamed     = 4096    // entries of Repository.Named
	maxLooked    = 1 << 16 // names that are looked at to resolve paths
	maxWords     = 1 << 14 // words of all commands
	maxNested    = 8       // commands inside commands, and alternates of alternates
)

// Kind says how a repository belongs to a directory.
type Kind int

// The kinds of repository that a directory can belong to.
const (
	None           Kind = iota // no repository at this directory
	Ordinary                   // .git is a directory, or a link to one
	Bare                       // the directory is the repository
	GitFile                    // .git is a file: a submodule, or git init --separate-git-dir
	LinkedWorktree             // .git is a file that names a linked worktree's part of another repository
)

// String is the kind in a few words, for messages.
func (k Kind) String() string {
	switch k {
	case None:
		return "no repository"
	case Ordinary:
		return "repository"
	case Bare:
		return "bare repository"
	case GitFile:
		return "repository that a .git file names"
	case LinkedWorktree:
		return "linked worktree"
	}
	return "kind " + strconv.Itoa(int(k))
}

// Environment is where the operator's configuration lies (git-config(1),
// FILES and ENVIRONMENT).
type Environment struct {
	// Home is $HOME; "" means that git has none, and then "~/" is an error as it
	// is for git.
	Home string
	// Getenv gives the variables of the operator's environment, "" for one that
	// is not set. nil means that none is.
	Getenv func(string) string
	// System are the system-wide configuration files, unless the environment
	// says otherwise. nil means /etc/gitconfig and the one beneath the
	// directory where git is installed.
	System []string
}

// HostEnvironment is the environment of this process.
func HostEnvironment() Environment {
	home := os.Getenv("HOME")
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	return Environment{Home: home, Getenv: os.Getenv}
}

// Named is a file or directory that configuration makes git run or read.
type Named struct {
	// Path is absolute. It may not exist yet: making it makes it act. Where the
	// configured path passes a symbolic link, the link is named as well, since
	// replacing it has the same effect; no directory on the way to Path may
	// become a link either.
	Path string
	// Dir means that everything beneath Path counts.
	Dir bool
	// Glob, where it is set, means that what counts lies beneath Path and has such a
	// name, and not Path itself: "clean.{py,pyc}" in the directory, "**/.gitattributes" at
	// any depth. It is in the language of package globs.
	Glob string
	// Key is the key of the configuration as git prints it (core.hookspath), a
	// variable of the environment ($GIT_EDITOR), or the file of the repository
	// that names it (objects/info/alternates).
	Key string
	// File and Line say where it is written. Line is 0 where there are no lines.
	File string
	Line int
}

// Repository is what Inspect found. All paths are absolute and, as far as they
// exist, without symbolic links.
type Repository struct {
	// Kind says how the directory belongs to GitDir.
	Kind Kind
	// GitDir is the git directory, "" for Kind None. For a .git file it is what
	// the file names, whether or not it exists.
	GitDir string
	// CommonDir holds what all worktrees of a repository have in common. It is
	// GitDir but where GitDir has a commondir file.
	CommonDir string
	// Worktree is core.worktree where that is set and is not the directory.
	Worktree string
	// Worktrees are the directories of the linked worktrees that are registered.
	// They need not exist.
	Worktrees []string
	// Modules are the git directories of submodules beneath CommonDir.
	Modules []string
	// Files are the configuration files that were read.
	Files []string
	// Named is what configuration, the repository's and the operator's, names
	// beneath the directory, GitDir or CommonDir.
	Named []Named
	// Runners are the commands of the configuration, and of the hooks that are
	// there, that run what the project holds without its being named.
	Runners []Runner
	// InProgress are the names in GitDir that say that something was begun and
	// not finished: a rebase, a merge, a bisection.
	InProgress []string
	// Foreign is what stands in GitDir or CommonDir and is neither a directory
	// nor a regular file with one name: at the top and in hooks, info, logs,
	// refs and objects/info. Objects and refs are not walked.
	Foreign []string

	sha256 bool // extensions.objectFormat
}

// Error is something that could not be understood, and why. It is meant for
// the operator: it names the file and the line.
type Error struct {
	File   string
	Line   int // 0 where there are no lines
	Reason string
	Err    error // what the system said, or nil
}

// Error gives file, line and reason.
func (e *Error) Error() string {
	at := strconv.Quote(e.File)
	if e.Line > 0 {
		at += ":" + strconv.Itoa(e.Line)
	}
	return at + ": " + e.Reason
}

// Unwrap gives what the system said, if that is the reason.
func (e *Error) Unwrap() error { return e.Err }

var (
	errLink      = errors.New("it is a symbolic link, or lies behind one that was put there just now")
	errSpecial   = errors.New("it is neither a file nor a directory (a FIFO, a socket or a device)")
	errDirectory = errors.New("it is a directory")
	errTooLarge  = fmt.Errorf("it is larger than %d bytes", maxFile)
	errTooMany   = errors.New("there are too many names in it")
	errChanged   = errors.New("it changed while it was read")
)

// missing reports whether err says that nothing is there.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func failed(file string, err error) error {
	var own *Error
	if errors.As(err, &own) {
		return err
	}
	return &Error{File: file, Reason: err.Error(), Err: err}
}

// Inspect looks at root, which is absolute and has no links in it. It changes
// nothing, and is not a snapshot: what the repository's files say may change
// after it. An error that is an *Error means that git would read something
// that this package does not understand.
func Inspect(root string, env Environment) (*Repository, error) {
	if !filepath.IsAbs(root) {
		return nil, &Error{File: root, Reason: "the path is not absolute"}
	}
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	in := &inspector{root: filepath.Clean(root), env: env, repo: &Repository{}, seen: map[Named]bool{}}
	in.known = []string{in.root}
	for _, step := range []func() error{in.find, in.list, in.configure, in.evaluate, in.hookScripts, in.alternates} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return in.repo, nil
}

type inspector struct {
	opener
	root   string
	env    Environment
	repo   *Repository
	known  []string        // directories without links, from which paths are resolved
	dirs   map[string]bool // directories that were seen on the way, each looked at once
	bases  []string        // where relative paths begin: the worktrees of the repository beneath root
	admins []string        // git directories of the linked worktrees in bases
	looked int
	words  int

	items    []item
	files    map[string]fileState
	perTree  bool // extensions.worktreeConfig
	seen     map[Named]bool
	hookDirs []string // what core.hooksPath names
	pathDirs []string // $PATH, as far as it lies beneath root; nil until it is asked for
}

// find finds the git directory and the common directory.
func (in *inspector) find() error {
	dotGit := filepath.Join(in.root, ".git")
	info, err := os.Lstat(dotGit)
	switch {
	case missing(err):
		return in.findBare()
	case err != nil:
		return failed(dotGit, err)
	}
	at := place{path: dotGit, mode: info.Mode().Type(), exists: true}
	if at.mode&fs.ModeSymlink != 0 {
		if at, err = in.resolve(dotGit); err != nil {
			return failed(dotGit, err)
		}
		in.add(at.links, Named{Key: ".git", File: dotGit})
	}
	switch {
	case !at.exists:
		return &Error{File: dotGit, Reason: fmt.Sprintf("it is a link to %q, which does not exist", at.path)}
	case at.mode.IsDir():
		in.repo.Kind, in.repo.GitDir = Ordinary, at.path
	case at.mode.IsRegular():
		in.repo.Kind = GitFile
		if err := in.gitFile(at.path); err != nil {
			return err
		}
	default:
		return failed(dotGit, errSpecial)
	}
	return in.common()
}

// findBare sees whether root itself is a git directory, as git does (setup.c,
// is_git_directory): HEAD, objects and refs are there.
func (in *inspector) findBare() error {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		info, err := os.Lstat(filepath.Join(in.root, name))
		if err != nil || (name != "HEAD") != info.IsDir() && info.Mode()&fs.ModeSymlink == 0 {
			return nil
		}
	}
	in.repo.Kind, in.repo.GitDir = Bare, in.root
	return in.common()
}

// gitFile reads a .git file.
func (in *inspector) gitFile(file string) error {
	text, err := in.read(file, maxFile)
	if err != nil {
		return failed(file, err)
	}
	path, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if !ok || path == "" || strings.ContainsAny(path, "\x00") {
		return &Error{File: file, Line: 1, Reason: "it is a file and does not say 'gitdir: PATH'"}
	}
	at, err := in.resolve(join(filepath.Dir(file), path))
	if err != nil {
		return failed(file, err)
	}
	if at.exists && !at.mode.IsDir() {
		return &Error{File: file, Line: 1, Reason: fmt.Sprintf("it names %q, which is not a directory", at.path)}
	}
	in.repo.GitDir = at.path
	in.add(at.links, Named{Key: ".git", File: file, Line: 1})
	return nil
}

// common reads commondir.
func (in *inspector) common() error {
	in.repo.CommonDir = in.repo.GitDir
	in.known = append(in.known, in.repo.GitDir)
	file := filepath.Join(in.repo.GitDir, "commondir")
	dir, err := in.pointer(file)
	if dir == "" || err != nil {
		return err
	}
	at, err := in.resolve(join(in.repo.GitDir, dir))
	if err != nil {
		return failed(file, err)
	}
	if !at.exists || !at.mode.IsDir() {
		return &Error{File: file, Line: 1, Reason: fmt.Sprintf("it names %q, which is not a directory", at.path)}
	}
	in.repo.CommonDir = at.path
	in.known = append(in.known, at.path)
	in.add(at.links, Named{Key: "commondir", File: file, Line: 1})
	if in.repo.Kind == GitFile {
		in.repo.Kind = LinkedWorktree
	}
	return nil
}

// pointer reads a file with one path in it; "" means that it is missing.
func (in *inspector) pointer(file string) (string, error) {
	text, err := in.read(file, maxFile)
	switch {
	case missing(err):
		return "", nil
	case err != nil:
		return "", failed(file, err)
	}
	path := strings.TrimRight(string(text), "\r\n")
	if path == "" || strings.ContainsAny(path, "\x00\n") {
		return "", &Error{File: file, Line: 1, Reason: "one path should stand in it"}
	}
	return path, nil
}

// begun are the names in a git directory that say that something is not
// finished, and what git then goes on to do there (an exec line of a rebase, a
// merge that the next commit concludes).
var begun = []string{
	"rebase-merge", "rebase-apply", "sequencer", "MERGE_HEAD", "MERGE_AUTOSTASH",
	"CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_START", "BISECT_LOG",
	"BISECT_RUN", "NOTES_MERGE_PARTIAL", "NOTES_MERGE_WORKTREE",
}

// list looks into the git directory and the common one.
func (in *inspector) list() error {
	in.bases = []string{in.root}
	if in.repo.GitDir == "" {
		return nil
	}
	dirs := []string{in.repo.GitDir}
	if in.repo.CommonDir != in.repo.GitDir {
		dirs = append(dirs, in.repo.CommonDir)
	}
	var worktrees, modules bool
	for i, dir := range dirs {
		top, err := in.names(dir, true)
		if err != nil {
			return err
		}
		for _, e := range top {
			switch name := e.Name(); {
			case i == 0 && slices.Contains(begun, name):
				in.repo.InProgress = append(in.repo.InProgress, name)
			case name == "worktrees" && e.IsDir():
				worktrees = dir == in.repo.CommonDir
			case name == "modules" && e.IsDir():
				modules = dir == in.repo.CommonDir
			case name == "hooks" && e.Type()&fs.ModeSymlink != 0:
				if err := in.hooksLink(filepath.Join(dir, name), true); err != nil {
					return err
				}
			case name == "objects" && e.IsDir():
				if _, err := in.names(filepath.Join(dir, name, "info"), false); err != nil {
					return err
				}
			case e.IsDir() && (name == "hooks" || name == "info" || name == "logs" || name == "refs"):
				list, err := in.names(filepath.Join(dir, name), name == "logs" || name == "info")
				if err != nil {
					return err
				}
				for _, hook := range list {
					if name == "hooks" && hook.Type()&fs.ModeSymlink != 0 {
						if err := in.hooksLink(filepath.Join(dir, name, hook.Name()), false); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	if worktrees {
		if err := in.worktrees(); err != nil {
			return err
		}
	}
	if modules {
		return in.modules(filepath.Join(in.repo.CommonDir, "modules"), 0)
	}
	return nil
}

// names lists a directory and records what is foreign in it. writes means that
// git writes files in it in place, so that one with a second name is foreign.
func (in *inspector) names(dir string, writes bool) ([]os.DirEntry, error) {
	entries, err := in.opener.list(dir, maxNames)
	switch {
	case missing(err):
		return nil, nil
	case err == errLink:
		return nil, nil // told by the directory above it
	case err == errTooMany:
		return known(dir), nil // an agent can make as many
	case err != nil:
		return nil, failed(dir, err)
	}
	for _, e := range entries {
		regular := e.Type().IsRegular()
		if !regular && !e.IsDir() || regular && writes && linked(e) {
			in.repo.Foreign = append(in.repo.Foreign, filepath.Join(dir, e.Name()))
		}
	}
	return entries, nil
}

// known are those entries of a git directory that matter.
func known(dir string) (entries []os.DirEntry) {
	for _, name := range slices.Concat(begun, []string{"worktrees", "modules", "hooks", "objects", "info", "logs", "refs"}) {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			entries = append(entries, fs.FileInfoToDirEntry(info))
		}
	}
	return entries
}

// hooksLink records where a link leads that is the directory of hooks, or a hook.
func (in *inspector) hooksLink(link string, dir bool) error {
	at, err := in.resolve(link)
	if err != nil {
		return failed(link, err)
	}
	from := Named{Dir: dir, Key: "hooks", File: link}
	return in.hooksAt(at, from)
}

// worktrees reads which linked worktrees are registered.
func (in *inspector) worktrees() error {
	dir := filepath.Join(in.repo.CommonDir, "worktrees")
	entries, err := in.opener.list(dir, maxWorktrees)
	if err != nil {
		return failed(dir, err)
	}
	for _, e := range entries {
		admin := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			in.repo.Foreign = append(in.repo.Foreign, admin)
			continue
		}
		file := filepath.Join(admin, "gitdir")
		dotGit, err := in.pointer(file)
		if err != nil {
			return err
		}
		if dotGit == "" {
			continue
		}
		at, err := in.resolve(join(admin, dotGit))
		if err != nil {
			return failed(file, err)
		}
		tree := filepath.Dir(at.path)
		in.repo.Worktrees = append(in.repo.Worktrees, tree)
		if tree == in.root || !beneath(in.root, tree) {
			continue
		}
		in.bases = append(in.bases, tree)
		in.admins = append(in.admins, admin)
		file = filepath.Join(admin, "commondir")
		common, err := in.pointer(file)
		if err != nil {
			return err
		}
		at, err = in.resolve(join(admin, common))
		if err != nil {
			return failed(file, err)
		}
		if at.path != in.repo.CommonDir {
			return &Error{File: file, Line: 1, Reason: fmt.Sprintf("the worktree's common directory is %q instead of %q", at.path, in.repo.CommonDir)}
		}
	}
	return nil
}

// modules finds the git directories of submodules. Their names may have
// slashes in them.
func (in *inspector) modules(dir string, depth int) error {
	if depth > maxNested {
		return nil // nothing rests on knowing all, and an agent can make many
	}
	entries, err := in.opener.list(dir, maxNames)
	if err == errTooMany {
		return nil
	}
	if err != nil {
		return failed(dir, err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			in.repo.Foreign = append(in.repo.Foreign, path)
			continue
		}
		if len(in.repo.Modules) >= maxNames {
			return nil
		}
		if _, err := os.Lstat(filepath.Join(path, "HEAD")); err != nil {
			if err := in.modules(path, depth+1); err != nil {
				return err
			}
			continue
		}
		in.repo.Modules = append(in.repo.Modules, path)
		nested := filepath.Join(path, "modules")
		if info, err := os.Lstat(nested); err == nil && info.IsDir() {
			if err := in.modules(nested, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// alternates names the object directories that this one borrows from.
func (in *inspector) alternates() error {
	if in.repo.CommonDir == "" {
		return nil
	}
	return in.alternatesOf(filepath.Join(in.repo.CommonDir, "objects"), 0)
}

func (in *inspector) alternatesOf(objects string, depth int) error {
	file := filepath.Join(objects, "info", "alternates")
	if depth > maxNested {
		return &Error{File: file, Reason: "alternates name each other in too long a chain"}
	}
	text, err := in.read(file, maxFile)
	switch {
	case missing(err) || depth > 0 && errors.Is(err, fs.ErrPermission):
		return nil
	case err != nil:
		return failed(file, err)
	}
	line := 0
	for path := range strings.Lines(string(text)) {
		line++
		path = strings.TrimSuffix(path, "\n")
		if path == "" || path[0] == '#' {
			continue
		}
		if path[0] == '"' {
			if path, err = strconv.Unquote(path); err != nil {
				return &Error{File: file, Line: line, Reason: "the quotes of the path cannot be read"}
			}
		}
		at, err := in.resolve(join(objects, path))
		if err != nil {
			return &Error{File: file, Line: line, Reason: err.Error(), Err: err}
		}
		from := Named{Path: at.path, Dir: true, Key: "objects/info/alternates", File: file, Line: line}
		if in.seen[from] || at.path == objects {
			continue
		}
		if err := in.name(at, from); err != nil {
			return err
		}
		if at.exists && at.mode.IsDir() {
			if err := in.alternatesOf(at.path, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// covers reports whether path lies where Named tells of it.
func (in *inspector) covers(path string) bool {
	return beneath(in.root, path) || beneath(in.repo.GitDir, path) || beneath(in.repo.CommonDir, path)
}

// whole reports whether path is one of the directories that are covered, or
// above one.
func (in *inspector) whole(path string) bool {
	return beneath(path, in.root) || beneath(path, in.repo.GitDir) || beneath(path, in.repo.CommonDir)
}

// name records where a path leads and the links that it passes.
func (in *inspector) name(at place, from Named) error {
	in.add(at.links, from)
	from.Path = at.path
	if at.exists && at.mode.IsDir() {
		from.Dir = true
	}
	in.add([]string{at.path}, from)
	return in.tooMany(from)
}

// tooMany holds the bound of what is named.
func (in *inspector) tooMany(from Named) error {
	if len(in.repo.Named) > maxNamed {
		return &Error{File: from.File, Line: from.Line, Reason: "the configuration names too many paths"}
	}
	return nil
}

// add records paths as named by from.
func (in *inspector) add(paths []string, from Named) {
	for _, path := range paths {
		n := from
		n.Path = path
		n.Dir = from.Dir && from.Path == path
		if in.covers(path) && !in.seen[n] {
			in.seen[n] = true
			in.repo.Named = append(in.repo.Named, n)
		}
	}
}

// hooksAt records a directory of hooks. Where the directory is more than that,
// as with core.hooksPath = ., it is the names of the hooks that count.
func (in *inspector) hooksAt(at place, from Named) error {
	in.hookDirs = append(in.hookDirs, at.path)
	if !in.whole(at.path) || !in.covers(at.path) {
		return in.name(at, from)
	}
	in.add(at.links, from)
	from.Dir = false
	for _, hook := range hooks {
		p, err := in.resolve(filepath.Join(at.path, hook))
		if err != nil {
			return failed(from.File, err)
		}
		if err := in.name(p, from); err != nil {
			return err
		}
	}
	return nil
}
