package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// item is a setting with where it comes from.
type item struct {
	setting
	source
	file string // "" for the environment
	hook bool   // it is a hook, and no setting
}

// source is what a file's settings have in common.
type source struct {
	own    bool     // the repository's own configuration, not the operator's
	bases  []string // where relative paths begin; nil means every worktree
	repoIs string   // the git directory that the settings are about, "" for GitDir
}

// fileState is what became of a configuration file.
type fileState int

const (
	fileOpen fileState = 1 + iota
	fileDone
)

// configure reads all configuration that git would read in root.
func (in *inspector) configure() error {
	in.files = map[string]fileState{}
	if err := in.operator(); err != nil {
		return err
	}
	if in.repo.GitDir == "" {
		return in.environment()
	}
	own := source{own: true}
	if err := in.inside(in.repo.CommonDir, "config", own); err != nil {
		return err
	}
	for _, it := range in.items {
		if it.own && it.key() == "extensions.objectformat" {
			in.repo.sha256 = strings.EqualFold(it.value, "sha256")
		}
	}
	in.perTree = in.on("extensions.worktreeconfig")
	if in.perTree {
		if err := in.inside(in.repo.GitDir, "config.worktree", own); err != nil {
			return err
		}
		for i, admin := range in.admins {
			tree := source{own: true, bases: in.bases[i+1 : i+2], repoIs: admin}
			if err := in.inside(admin, "config.worktree", tree); err != nil {
				return err
			}
		}
	}
	// $GIT_DIR makes git work on another repository, wherever it is started.
	if dir := in.env.Getenv("GIT_DIR"); dir != "" {
		at, err := in.resolve(join(in.root, dir))
		if err != nil {
			return failed("$GIT_DIR", err)
		}
		if err := in.inside(at.path, "config", source{own: true, repoIs: at.path}); err != nil {
			return err
		}
	}
	return in.environment()
}

// operator reads the system's and the user's configuration.
func (in *inspector) operator() error {
	system := in.env.System
	if file := in.env.Getenv("GIT_CONFIG_SYSTEM"); file != "" {
		system = []string{join(in.root, file)}
	} else if system == nil {
		system = []string{"/etc/gitconfig"}
		if prefix := in.prefix(); prefix != "" && prefix != "/usr" {
			system = append(system, filepath.Join(prefix, "etc", "gitconfig"))
		}
	}
	if v := in.env.Getenv("GIT_CONFIG_NOSYSTEM"); v != "" && isTrue(v) {
		system = nil
	}
	files := system
	if file := in.env.Getenv("GIT_CONFIG_GLOBAL"); file != "" {
		files = append(files, join(in.root, file))
	} else {
		xdg := in.env.Getenv("XDG_CONFIG_HOME")
		if xdg == "" && in.env.Home != "" {
			xdg = filepath.Join(in.env.Home, ".config")
		}
		if xdg != "" {
			xdg = join(in.root, xdg)
			files = append(files, filepath.Join(xdg, "git", "config"))
			// The defaults of core.attributesFile and core.excludesFile count
			// where the operator's own files are the project.
			for _, name := range []string{"attributes", "ignore"} {
				if err := in.mention(filepath.Join(xdg, "git", name), Named{Key: "$XDG_CONFIG_HOME/git/" + name, File: xdg}); err != nil {
					return err
				}
			}
		}
		if in.env.Home != "" {
			files = append(files, join(in.root, filepath.Join(in.env.Home, ".gitconfig")))
		}
	}
	for _, file := range files {
		if err := in.mentioned(file, Named{Key: "the operator's configuration", File: file}, source{}, 0); err != nil {
			return err
		}
	}
	return nil
}

// mentioned names a configuration file as it stands, and reads what is there.
// The operator's files may be links, and so may what is included; inside the
// git directory none may be.
func (in *inspector) mentioned(path string, from Named, src source, depth int) error {
	at, err := in.resolve(path)
	if err != nil {
		return failed(path, err)
	}
	if err := in.name(at, from); err != nil || !at.exists {
		return err
	}
	return in.file(path, at.path, src, depth)
}

// inside reads a configuration file in a git directory, where it may not be a
// link.
func (in *inspector) inside(dir, name string, from source) error {
	path := filepath.Join(dir, name)
	return in.file(path, path, from, 0)
}

// mention names path as it stands.
func (in *inspector) mention(path string, from Named) error {
	at, err := in.resolve(path)
	if err != nil {
		return failed(path, err)
	}
	return in.name(at, from)
}

// file reads a configuration file and what it includes. A file that is missing
// is none. path is as it was written: relative includes begin in its
// directory, which need not be the one where a link leads, real.
func (in *inspector) file(path, real string, from source, depth int) error {
	if depth > maxIncludes {
		return &Error{File: path, Reason: fmt.Sprintf("configuration files include each other more than %d deep", maxIncludes)}
	}
	memo := path + "\x00" + strings.Join(from.bases, "\x00")
	switch in.files[memo] {
	case fileOpen:
		return &Error{File: path, Reason: "the configuration file includes itself"}
	case fileDone:
		return nil
	}
	text, err := in.read(real, maxFile)
	switch {
	case missing(err):
		return nil
	case err != nil && !from.own && errors.Is(err, fs.ErrPermission):
		return nil // git ignores such a file too
	case err != nil:
		return failed(path, fmt.Errorf("git's configuration cannot be read: %w", err))
	}
	if len(in.files) >= maxFiles {
		return &Error{File: path, Reason: fmt.Sprintf("git's configuration has more than %d files", maxFiles)}
	}
	in.files[memo] = fileOpen
	in.repo.Files = append(in.repo.Files, real)
	settings, err := parseConfig(path, text)
	if err != nil {
		return err
	}
	for _, s := range settings {
		it := item{setting: s, source: from, file: path}
		in.items = append(in.items, it)
		if s.isInclude() {
			if err := in.include(it, depth); err != nil {
				return err
			}
		}
	}
	in.files[memo] = fileDone
	return nil
}

func (s setting) isInclude() bool {
	return s.name == "path" && (s.section == "include" && !s.sub || s.section == "includeif" && s.sub)
}

func (in *inspector) include(it item, depth int) error {
	path, err := in.pathname(it, it.value)
	if err != nil {
		return err
	}
	if path == "" {
		return it.fail("an include names no file")
	}
	if !filepath.IsAbs(path) {
		if it.file == "" {
			return it.fail("an include in the environment is absolute")
		}
		path = join(filepath.Dir(it.file), path)
	}
	return in.mentioned(path, it.names(), it.source, depth+1)
}

// environment reads settings that the environment holds (git-config(1),
// GIT_CONFIG_COUNT).
func (in *inspector) environment() error {
	text := in.env.Getenv("GIT_CONFIG_COUNT")
	if text == "" {
		return nil
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 0 || count > maxNames {
		return &Error{File: "$GIT_CONFIG_COUNT", Reason: fmt.Sprintf("%q is not a number of settings", text)}
	}
	for i := range count {
		name := "GIT_CONFIG_KEY_" + strconv.Itoa(i)
		key := in.env.Getenv(name)
		first, last := strings.Index(key, "."), strings.LastIndex(key, ".")
		if first <= 0 || last == len(key)-1 {
			return &Error{File: "$" + name, Reason: fmt.Sprintf("%q is not the name of a setting", key)}
		}
		s := setting{section: strings.ToLower(key[:first]), name: strings.ToLower(key[last+1:]), value: in.env.Getenv("GIT_CONFIG_VALUE_" + strconv.Itoa(i))}
		if first < last {
			s.subsection, s.sub = key[first+1:last], true
		}
		it := item{setting: s}
		in.items = append(in.items, it)
		if s.isInclude() {
			if err := in.include(it, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// on reports whether a boolean of the repository's configuration is true in
// any place that sets it.
func (in *inspector) on(key string) bool {
	for _, it := range in.items {
		if it.own && it.key() == key && (it.bare || isTrue(it.value)) {
			return true
		}
	}
	return false
}

// isTrue is git's notion of a true boolean; what is not a boolean at all counts
// as true.
func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "", "false", "no", "off":
		return false
	}
	n, err := strconv.Atoi(value)
	return err != nil || n != 0
}

// pathname expands a path as git does (git-config(1), Values, pathname).
func (in *inspector) pathname(it item, value string) (string, error) {
	value = strings.TrimPrefix(value, ":(optional)")
	if rest, ok := strings.CutPrefix(value, "%(prefix)/"); ok {
		prefix := in.prefix()
		if prefix == "" {
			return "", it.fail("%(prefix) is where git is installed, and there is no git in $PATH")
		}
		return filepath.Join(prefix, rest), nil
	}
	if !strings.HasPrefix(value, "~") {
		return value, nil
	}
	path, ok := in.tilde(value)
	if !ok {
		return "", it.fail(fmt.Sprintf("nobody's home is known for %q", value))
	}
	return path, nil
}

// tilde replaces a home's short form at the beginning of path.
func (in *inspector) tilde(path string) (string, bool) {
	name, rest, _ := strings.Cut(path[1:], "/")
	home := in.env.Home
	if name != "" {
		u, err := user.Lookup(name)
		if err != nil {
			return "", false
		}
		home = u.HomeDir
	}
	return home + "/" + rest, home != ""
}

// prefix is where git is installed: the parent of the directory in $PATH that
// has it.
func (in *inspector) prefix() string {
	for _, dir := range filepath.SplitList(in.env.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if _, err := os.Stat(dir + "/git"); err != nil {
			continue // the short way past most of them
		}
		if at, err := in.resolve(filepath.Join(dir, "git")); err == nil && at.exists && at.mode.IsRegular() {
			return filepath.Dir(filepath.Dir(at.path))
		}
	}
	return ""
}

// fail is an error at the item.
func (it item) fail(reason string) error {
	file := it.file
	if file == "" {
		file = "the environment"
	}
	return &Error{File: file, Line: it.line, Reason: it.key() + ": " + reason}
}

// names is a Named without its path.
func (it item) names() Named {
	return Named{Key: it.key(), File: it.file, Line: it.line}
}
