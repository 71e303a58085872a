package gitrepo

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// evaluate names what the values of all settings name.
func (in *inspector) evaluate() error {
	for _, it := range in.items {
		if it.section == "core" && !it.sub && it.name == "worktree" && it.own {
			if err := in.workTree(it); err != nil {
				return err
			}
		}
	}
	for _, it := range in.items {
		if err := in.value(it, it.use(), it.value); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if value := in.env.Getenv(name); value != "" {
			it := item{setting: setting{name: "$" + name}}
			if err := in.value(it, variables[name], value); err != nil {
				return err
			}
		}
	}
	return nil
}

// workTree takes core.worktree for one more directory where relative paths
// begin.
func (in *inspector) workTree(it item) error {
	dir := in.repo.GitDir
	if it.repoIs != "" {
		dir = it.repoIs
	}
	path, err := in.pathname(it, it.value)
	if err != nil {
		return err
	}
	at, err := in.resolve(join(dir, path))
	if err != nil {
		return it.fail(err.Error())
	}
	if at.path == in.root {
		return nil
	}
	in.repo.Worktree = at.path
	in.add(at.links, it.names())
	if !slices.Contains(in.bases, at.path) {
		in.bases = append(in.bases, at.path)
	}
	return nil
}

// value names what one value names.
func (in *inspector) value(it item, how use, value string) error {
	if it.bare || value == "" {
		return nil // an error for git, or takes back what was set before
	}
	switch how {
	case useFile, useDir, useHooks, useTrace:
		return in.path(it, how, value)
	case useSwitch:
		if _, err := strconv.Atoi(value); err == nil || slices.Contains([]string{"true", "false", "yes", "no", "on", "off"}, strings.ToLower(value)) {
			return nil
		}
		return in.command(it, value, "")
	case useCommand:
		return in.command(it, value, "")
	case useHelper:
		if rest, ok := strings.CutPrefix(value, "!"); ok {
			return in.command(it, rest, "")
		}
		if filepath.IsAbs(value) || value[0] == '~' {
			return in.command(it, value, "")
		}
		return in.command(it, value, "git-credential-")
	case useBang, useAlias:
		if rest, ok := strings.CutPrefix(value, "!"); ok {
			return in.command(it, rest, "")
		}
	case useURL:
		return in.url(it, value)
	case useBase:
		return in.url(it, it.subsection)
	case useAbsolute:
		if filepath.IsAbs(value) {
			return in.command(it, value, "")
		}
	case useSuffix:
		return in.program(it, "git-remote-"+value)
	case useNone, useGit:
	}
	return nil
}

func (in *inspector) url(it item, url string) error {
	if rest, ok := strings.CutPrefix(url, "ext::"); ok {
		return in.command(it, rest, "") // git-remote-ext(1)
	}
	return nil
}

// path names a value that is a path, once for each directory in which it may
// be meant.
func (in *inspector) path(it item, how use, value string) error {
	if how == useTrace {
		if _, err := strconv.Atoi(value); err == nil || value == "true" || value == "false" {
			return nil
		}
		value = strings.TrimPrefix(value, "af_unix:")
		value = strings.TrimPrefix(strings.TrimPrefix(value, "stream:"), "dgram:")
	}
	path, err := in.pathname(it, value)
	if err != nil {
		return err
	}
	for _, base := range in.basesOf(it, how == useHooks) {
		at, err := in.resolve(join(base, path))
		if err != nil {
			return it.fail(err.Error())
		}
		from := it.names()
		from.Path, from.Dir = at.path, how == useDir || how == useHooks
		switch {
		case how == useHooks:
			err = in.hooksAt(at, from)
		case in.covers(at.path) && in.whole(at.path) && from.Dir:
			err = it.fail("it names the whole of " + strconv.Quote(at.path))
		case !in.whole(at.path):
			err = in.name(at, from)
		}
		if err != nil {
			return err
		}
		if filepath.IsAbs(path) {
			break
		}
	}
	return nil
}

// basesOf is where relative paths of an item begin. Hooks that a push runs
// begin in the git directory (githooks(5)).
func (in *inspector) basesOf(it item, hooks bool) []string {
	bases := it.bases
	if bases == nil {
		bases = in.bases
	}
	if !hooks || in.repo.GitDir == "" {
		return bases
	}
	bases = slices.Clone(bases)
	for _, dir := range []string{in.repo.GitDir, in.repo.CommonDir} {
		if !slices.Contains(bases, dir) {
			bases = append(bases, dir)
		}
	}
	return bases
}

// program names a program that is looked for in $PATH, where that leads
// beneath root.
func (in *inspector) program(it item, name string) error {
	if in.pathDirs == nil {
		in.pathDirs = []string{}
		for _, dir := range filepath.SplitList(in.env.Getenv("PATH")) {
			// An empty entry is the current directory (environ(7)).
			if at, err := in.resolve(join(in.root, dir)); err == nil && beneath(in.root, at.path) {
				in.pathDirs = append(in.pathDirs, at.path)
			}
		}
	}
	for _, dir := range in.pathDirs {
		if err := in.mention(filepath.Join(dir, name), it.names()); err != nil {
			return err
		}
	}
	return nil
}
