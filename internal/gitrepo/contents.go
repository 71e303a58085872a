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
)

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
