package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
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

// ReadFile reads a regular file of at most limit bytes, if no link stands anywhere
// in path. It does not wait at a FIFO: whoever made a checkout could have made one.
func ReadFile(path string, limit int) ([]byte, error) {
	return (&opener{}).read(path, limit)
}
