package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/internal/gitrepo"
)

// authorFile is where --git-author shows git its settings inside.
const authorFile = "/run/pinfold/gitconfig"

// authorKeys are the settings of a user's git that commits are made by, and that hold no
// secret and start no program. URLs, headers, credential helpers, aliases, signing keys
// and paths are not among them.
var authorKeys = []string{
	"user.name", "user.email", "user.useconfigonly", "author.name", "author.email", "committer.name", "committer.email",
	"init.defaultbranch", "core.abbrev", "core.autocrlf", "core.eol", "core.safecrlf", "core.quotepath", "core.commentchar", "core.whitespace",
	"commit.cleanup", "commit.verbose", "format.signoff", "pull.rebase", "pull.ff", "push.default", "push.autosetupremote", "fetch.prune",
	"merge.ff", "merge.conflictstyle", "rebase.autostash", "rebase.autosquash", "rerere.enabled",
	"diff.algorithm", "diff.renames", "diff.mnemonicprefix", "log.date", "branch.sort", "tag.sort", "color.ui", "column.ui",
}

// authorConfig is what --git-author shows of the files that git takes its user's settings
// from; what they include is left out. nil: nothing.
func (f *runFlags) authorConfig() (text []byte) {
	if !f.gitAuthor {
		return nil
	}
	for _, file := range authorFiles() {
		data, err := hostfile.Read("--git-author", file)
		if err != nil {
			continue // there need not be one
		}
		text = append(text, gitrepo.Pick(data, authorKeys)...)
	}
	return text
}

// authorFiles are the files of git's global configuration.
func authorFiles() []string {
	if file := os.Getenv("GIT_CONFIG_GLOBAL"); file != "" {
		return []string{file}
	}
	home, _ := os.UserHomeDir()
	if !filepath.IsAbs(home) {
		return nil
	}
	xdg := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(xdg) {
		xdg = filepath.Join(home, ".config")
	}
	return []string{filepath.Join(xdg, "git", "config"), filepath.Join(home, ".gitconfig")}
}

// authorWanted reports whether a profile or a project's file gives the author: not where
// the user shows the whole of such a file, or says which one git reads.
func (f *runFlags) authorWanted() bool {
	shown := func(ro string) bool {
		abs, err := filepath.Abs(ro)
		return err == nil && slices.ContainsFunc(authorFiles(), func(file string) bool { return file == abs || strings.HasPrefix(file, abs+"/") })
	}
	names := func(kv string) bool { return kv == "GIT_CONFIG_GLOBAL" || strings.HasPrefix(kv, "GIT_CONFIG_GLOBAL=") }
	return !slices.ContainsFunc(f.ro, shown) && !slices.ContainsFunc(f.env, names)
}
