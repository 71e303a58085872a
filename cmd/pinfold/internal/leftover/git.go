package leftover

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the names of git's objects
	"crypto/sha256"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/gitrepo"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

const (
	maxGitFile = 1 << 20 // bytes of one of git's files that are read
	maxNamed   = 5       // hooks, or commands of a rebase, that are named
)

// maxStaged bounds what is told of an index.
const maxStaged = 100

// staged tells files that programs run by themselves of which git's index has other
// content than the work tree, where an index was replaced: the next checkout, stash or
// rebase of the operator's writes it there. The same goes for what git's configuration
// names.
func (e *examiner) staged() {
	repo, err := gitrepo.Inspect(e.r.Root(), gitrepo.HostEnvironment())
	if err != nil {
		return // which a later run, too, says and ends by
	}
	why := func(place string) string {
		if t := e.trusted.Covers(place); t != nil {
			return t.String()
		}
		return resolved.Of(e.r).(interface{ NamedByGit(place string) string }).NamedByGit(place)
	}
	paths, complete, err := repo.Tracked(func(path string, object []byte) bool {
		return why(path) != "" && !e.isObject(path, object)
	}, maxStaged)
	if err != nil || !complete {
		e.omitted++
	}
	for _, place := range paths {
		e.items = append(e.items, Item{Kind: ByItself, Path: filepath.Join(repo.GitDir, "index"), Program: "git",
			Detail: "has other content for '" + place + "' in its index than the work tree, which the next checkout or stash writes: " + why(place)})
	}
}

// isObject reports whether what is at a place is git's object of that name.
func (e *examiner) isObject(place string, object []byte) bool {
	var text []byte
	info, err := e.r.Lstat(place)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		var to string
		to, err = e.r.Readlink(place)
		text = []byte(to)
	} else if err == nil {
		text, err = e.read(place)
	}
	if err != nil {
		return false
	}
	blob := append([]byte("blob "+strconv.Itoa(len(text))+"\x00"), text...)
	if len(object) == sha256.Size {
		sum := sha256.Sum256(blob)
		return bytes.Equal(sum[:], object)
	}
	sum := sha1.Sum(blob) //nolint:gosec // the names of git's objects
	return bytes.Equal(sum[:], object)
}

// repository tells a git directory, or a file .git, with what there is in it that
// git runs or is told by.
func (e *examiner) repository(place string, info fs.FileInfo) {
	if info.Mode().IsRegular() {
		text, _ := e.read(place)
		dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
		if ok && path.Base(place) == ".git" {
			e.add(place, Item{Kind: Repository, Detail: "its git directory is '" + strings.TrimSpace(dir) + "'"})
		}
		return
	}
	if !e.isGitDir(place) {
		return
	}
	var has []string
	if hooks := e.hooks(path.Join(place, "hooks")); len(hooks) > 0 {
		has = append(has, "hooks: "+some(hooks))
	}
	if text, err := e.read(path.Join(place, "config")); err == nil {
		if _, err := gitrepo.CheckMade(text, e.r.Root(), place); err != nil {
			has = append(has, "config: "+err.Error())
		}
	}
	e.add(place, Item{Kind: Repository, Detail: strings.Join(has, "; ")})
	e.repos = append(e.repos, place)
}

// isGitDir is git's own question (setup.c, is_git_directory).
func (e *examiner) isGitDir(place string) bool {
	for _, name := range []string{"objects", "refs"} {
		if info, err := e.r.Lstat(path.Join(place, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	_, err := e.r.Lstat(path.Join(place, "HEAD"))
	return err == nil
}

// hooks are the names in a directory of hooks that are no samples.
func (e *examiner) hooks(dir string) (names []string) {
	list, err := e.r.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, entry := range list {
		if !strings.HasSuffix(entry.Name(), ".sample") {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names
}

// operation tells what was begun in a git directory and is still there.
func (e *examiner) operation(place string) {
	dir, name := path.Split(place)
	what := operations[name]
	if what == "" || !e.isGitDir(path.Clean(dir)) && !e.isWorktreeDir(path.Clean(dir)) {
		return
	}
	detail := what + " is in progress"
	if commands := e.commands(place); len(commands) > 0 {
		detail += "; to continue it runs: " + some(commands)
	}
	for _, options := range []string{"strategy", "opts", "apply-opt"} { // a strategy is a program
		if text, err := e.read(path.Join(place, options)); err == nil && len(text) > 0 {
			detail += "; it has options of its own (" + options + ")"
		}
	}
	e.add(place, Item{Kind: Operation, Detail: detail})
}

// isWorktreeDir reports whether a place is a linked worktree's part of a git directory.
func (e *examiner) isWorktreeDir(place string) bool {
	_, err := e.r.Lstat(path.Join(place, "commondir"))
	return err == nil
}

// commands are what a rebase that is in progress is to run: lines "exec COMMAND"
// or "x COMMAND" (git-rebase(1)).
func (e *examiner) commands(dir string) (all []string) {
	text, err := e.read(path.Join(dir, "git-rebase-todo"))
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if word == "exec" || word == "x" {
			all = append(all, strings.TrimSpace(rest))
		}
	}
	return all
}

// read gives the beginning of a regular file.
func (e *examiner) read(place string) ([]byte, error) {
	f, err := e.r.OpenRead(place)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // was only read
	return io.ReadAll(io.LimitReader(f, maxGitFile))
}

// some names the first of a list.
func some(list []string) string {
	if len(list) > maxNamed {
		return strings.Join(list[:maxNamed], ", ") + ", ..."
	}
	return strings.Join(list, ", ")
}
