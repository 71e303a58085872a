package gitrepo

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

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
