package main

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/gitshare"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// gitBeside is a git directory outside of the project, which --git opens as far
// as the project's checkout needs it. nil is none.
type gitBeside struct {
	repo *gitshare.Repo
	cfg  pathresolver.Config
	r    *pathresolver.Resolver
	view *sandboxfs.View // once it is arranged
}

// findGitBeside opens the git directory that cfg's --git is about, where that
// lies outside of the project; cfg asks for it no more then. as may own it
// besides the caller. The caller closes it.
func findGitBeside(cfg *pathresolver.Config, as string) (*gitBeside, error) {
	if !cfg.Git {
		return nil, nil
	}
	owners := []int{os.Geteuid()}
	if uid, ok := uidOf(as); ok {
		owners = append(owners, uid)
	}
	repo, err := gitshare.Find(cfg.Root, owners...)
	if err != nil || repo == nil {
		// A root that cannot be read is for the resolver to complain about.
		var refused *gitshare.Error
		if errors.As(err, &refused) {
			return nil, usageError(err, "") // which has a hint of its own
		}
		return nil, nil
	}
	b := &gitBeside{repo: repo, cfg: repo.Config()}
	b.cfg.HardLinks = cfg.HardLinks
	if b.r, err = pathresolver.New(b.cfg); err != nil {
		return nil, errors.Join(err, repo.Close())
	}
	cfg.Git, cfg.GitDirs = false, []string{repo.Dir}
	return b, nil
}

// uidOf is the number of the user whom --user names; ok is false for none.
func uidOf(name string) (uid int, ok bool) {
	if name == "" {
		return 0, false
	}
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.LookupId(name); err != nil {
			return 0, false
		}
	}
	uid, err = strconv.Atoi(u.Uid)
	return uid, err == nil
}

// close lets go of it, after its view.
func (b *gitBeside) close() {
	if b != nil {
		_, _ = b.r.Close(), b.repo.Close() // hold descriptors, nothing to lose
	}
}

// arrange makes its view: one connection, so that the view itself hears of all
// that is refused. follow is told of the view before it is made.
func (b *gitBeside) arrange(options sandboxfs.Options, follow func(*pathresolver.Resolver, *sandboxfs.Options)) (err error) {
	if b == nil {
		return nil
	}
	follow(b.r, &options)
	options.SingleConnection, options.ReportAll = true, false
	options.Ask, options.AskWait = nil, 0
	if tell := options.OnRefusal; tell != nil {
		options.OnRefusal = func(r sandboxfs.Refusal) {
			r.Place = b.path(r.Place)
			tell(r)
		}
	}
	b.view, err = sandboxfs.New(b.r, options)
	return err
}

// closeView ends the view, and says how many refusals it could not tell.
func (b *gitBeside) closeView() (dropped uint64, err error) {
	if b == nil || b.view == nil {
		return 0, nil
	}
	err = b.view.Close()
	return b.view.Stats().RefusalsDropped, err
}

// into shows it to the command.
func (b *gitBeside) into(c *launcher.Config) {
	if b == nil {
		return
	}
	c.Beside = append(c.Beside, launcher.Placed{View: b.view, Root: b.repo.Dir, WritePaths: b.repo.WritePaths()})
}

// settings are those of git inside a run that may write. rerere copies from and to
// the files that .git/MERGE_RR names, which is protected for that.
func (b *gitBeside) settings(cfg pathresolver.Config, r *pathresolver.Resolver) [][2]string {
	noRerere := [2]string{"rerere.enabled", "false"}
	if b != nil {
		return append(b.repo.Settings(), noRerere)
	}
	if !cfg.Git && len(cfg.WritePaths) == 0 {
		return nil
	}
	for _, dir := range []string{".git/", ""} { // a bare repository has no .git
		_, err := r.Lstat(dir + "HEAD")
		trees, err2 := r.Lstat(dir + "worktrees")
		if err == nil && err2 == nil && trees.IsDir() {
			return append(gitshare.WithWorktrees(), noRerere)
		}
	}
	return [][2]string{noRerere}
}

// path is a place in it as an absolute path.
func (b *gitBeside) path(place string) string { return filepath.Join(b.repo.Dir, place) }

// holds reports whether an absolute path leads into it, as far as its text says.
func (b *gitBeside) holds(path string) bool {
	if b == nil || !filepath.IsAbs(path) {
		return false
	}
	path = filepath.Clean(path)
	return path == b.repo.Dir || strings.HasPrefix(path, b.repo.Dir+"/")
}

// tell says what it opens.
func (b *gitBeside) tell(o *output) {
	if b == nil {
		return
	}
	esc := pathresolver.EscapePath
	what := "which is this checkout's alone"
	switch {
	case b.repo.Branch != "":
		what = "shared: its branch '" + esc(strings.TrimPrefix(b.repo.Branch, "refs/heads/")) + "' and new refs can be changed"
	case b.repo.Shared():
		what = "shared: only new refs can be changed, since HEAD names no branch of this worktree's own"
	}
	o.stderr.printf("pinfold: git directory '%s', %s\n", esc(b.repo.Dir), what)
}

// gitSettings are variables that add settings of git to those that env, whose
// entries are those of --env, gives it in the same way (git-config(1),
// GIT_CONFIG_COUNT).
func gitSettings(env []string, lookup func(string) (string, bool), settings [][2]string) []string {
	if len(settings) == 0 {
		return nil
	}
	const counts = "GIT_CONFIG_COUNT"
	given := ""
	for _, kv := range env {
		if key, value, set := strings.Cut(kv, "="); key == counts {
			if given = value; !set {
				given, _ = lookup(counts)
			}
		}
	}
	n, err := strconv.Atoi(given)
	if given != "" && (err != nil || n < 0) {
		return nil // git says what is wrong with it
	}
	var add []string
	for _, s := range settings {
		nth := strconv.Itoa(n)
		add = append(add, "GIT_CONFIG_KEY_"+nth+"="+s[0], "GIT_CONFIG_VALUE_"+nth+"="+s[1])
		n++
	}
	return append(add, counts+"="+strconv.Itoa(n))
}

// shownBeside is a git directory beside the project, in policyFile.
type shownBeside struct {
	Root       name   `json:"root"`
	WritePaths []name `json:"write_paths"`
	Worktree   name   `json:"worktree,omitempty"` // "" where it is the checkout's alone
	Branch     name   `json:"branch,omitempty"`
	HardLinks  string `json:"hardlinks"`
}

func (b *gitBeside) shown() []shownBeside {
	if b == nil {
		return nil
	}
	return []shownBeside{{
		Root: name(b.repo.Dir), WritePaths: convert[name](b.repo.WritePaths()),
		Worktree: name(b.repo.Worktree), Branch: name(b.repo.Branch), HardLinks: b.cfg.HardLinks.String(),
	}}
}

// reopen is what shown tells, opened again inside the run.
func (s shownBeside) reopen() (*gitBeside, error) {
	repo, err := gitshare.Reopen(string(s.Root), string(s.Worktree), string(s.Branch))
	if err != nil {
		return nil, err
	}
	b := &gitBeside{repo: repo, cfg: repo.Config()}
	b.cfg.AllowBroadRoot = true // the run has decided that
	if b.cfg.HardLinks, err = pathresolver.ParseHardLinks(s.HardLinks); err == nil {
		b.r, err = pathresolver.New(b.cfg)
	}
	if err != nil {
		return nil, errors.Join(err, repo.Close())
	}
	return b, nil
}

// explain is Explain for a path that leads into it.
func (b *gitBeside) explain(op pathresolver.Op, path string) pathresolver.Decision {
	d := b.r.Explain(op, path)
	if d.Place != "" {
		d.Place = b.path(d.Place)
	}
	d.Writable = slices.Clone(b.repo.WritePaths())
	for i := range d.Writable {
		d.Writable[i] = b.path(d.Writable[i])
	}
	return d
}
