package gitbeside

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/internal/gitshare"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// Dir is a git directory outside of the project, which --git opens as far
// as the project's checkout needs it. nil is none.
type Dir struct {
	repo     *gitshare.Repo
	cfg      pathresolver.Config
	Resolver *pathresolver.Resolver
	view     *sandboxfs.View // once it is arranged
}

// Find opens the git directory that cfg's --git is about if it lies outside of the
// project, and takes the request out of cfg. The directory belongs to the caller or to
// the user as. The caller closes it.
func Find(cfg *pathresolver.Config, as string) (*Dir, error) {
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
			return nil, cli.UsageError(err, "") // which has a hint of its own
		}
		return nil, nil
	}
	b := &Dir{repo: repo, cfg: repo.Config()}
	b.cfg.HardLinks = cfg.HardLinks
	if b.Resolver, err = pathresolver.New(b.cfg); err != nil {
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

// Root is where it lies; "" where it is nil.
func (b *Dir) Root() string {
	if b == nil {
		return ""
	}
	return b.repo.Dir
}

// Close lets go of it, after its view.
func (b *Dir) Close() {
	if b != nil {
		_, _ = b.Resolver.Close(), b.repo.Close() // hold descriptors, nothing to lose
	}
}

// Arrange makes its view, with one connection, so that the view itself learns of every
// refusal. follow is told of the view before it is made.
func (b *Dir) Arrange(options sandboxfs.Options, follow func(*pathresolver.Resolver, *sandboxfs.Options)) (err error) {
	if b == nil {
		return nil
	}
	follow(b.Resolver, &options)
	options.SingleConnection, options.ReportAll = true, false
	options.Ask, options.AskWait = nil, 0
	if tell := options.OnRefusal; tell != nil {
		options.OnRefusal = func(r sandboxfs.Refusal) {
			r.Place = b.path(r.Place)
			tell(r)
		}
	}
	b.view, err = sandboxfs.New(b.Resolver, options)
	return err
}

// CloseView ends the view, and says how many refusals it could not tell.
func (b *Dir) CloseView() (dropped uint64, err error) {
	if b == nil || b.view == nil {
		return 0, nil
	}
	err = b.view.Close()
	return b.view.Stats().RefusalsDropped, err
}

// Into shows it to the command.
func (b *Dir) Into(c *launcher.Config) {
	if b == nil {
		return
	}
	c.Beside = append(c.Beside, launcher.Placed{View: b.view, Root: b.repo.Dir, WritePaths: b.repo.WritePaths()})
}

// Settings are the settings of git inside a run that may write. rerere is turned off:
// it copies from and to the files that .git/MERGE_RR names, which is protected for
// that reason.
func (b *Dir) Settings(cfg pathresolver.Config, r *pathresolver.Resolver) [][2]string {
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
func (b *Dir) path(place string) string { return filepath.Join(b.repo.Dir, place) }

// Holds reports whether an absolute path leads into it, as far as its text says.
func (b *Dir) Holds(path string) bool {
	if b == nil || !filepath.IsAbs(path) {
		return false
	}
	path = filepath.Clean(path)
	return path == b.repo.Dir || strings.HasPrefix(path, b.repo.Dir+"/")
}

// Tell says what it opens.
func (b *Dir) Tell(o *cli.Output) {
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
	o.Stderr.Printf("pinfold: git directory '%s', %s\n", esc(b.repo.Dir), what)
}

// Environment are variables that add settings of git to those that env, whose
// entries are those of --env, gives it in the same way (git-config(1),
// GIT_CONFIG_COUNT).
func Environment(env []string, lookup func(string) (string, bool), settings [][2]string) []string {
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

// Shown is a git directory beside the project, in PolicyFile.
type Shown struct {
	Root       cli.PathText   `json:"root"`
	WritePaths []cli.PathText `json:"write_paths"`
	Worktree   cli.PathText   `json:"worktree,omitempty"` // "" where it is the checkout's alone
	Branch     cli.PathText   `json:"branch,omitempty"`
	HardLinks  string         `json:"hardlinks"`
}

// Show is what a run shows of it inside; nothing where it is nil.
func (b *Dir) Show() []Shown {
	if b == nil {
		return nil
	}
	return []Shown{{
		Root: cli.PathText(b.repo.Dir), WritePaths: cli.Convert[cli.PathText](b.repo.WritePaths()),
		Worktree: cli.PathText(b.repo.Worktree), Branch: cli.PathText(b.repo.Branch), HardLinks: b.cfg.HardLinks.String(),
	}}
}

// Reopen is what shown tells, opened again inside the run.
func (s Shown) Reopen() (*Dir, error) {
	repo, err := gitshare.Reopen(string(s.Root), string(s.Worktree), string(s.Branch))
	if err != nil {
		return nil, err
	}
	b := &Dir{repo: repo, cfg: repo.Config()}
	b.cfg.AllowBroadRoot = true // the run has decided that
	if b.cfg.HardLinks, err = pathresolver.ParseHardLinks(s.HardLinks); err == nil {
		b.Resolver, err = pathresolver.New(b.cfg)
	}
	if err != nil {
		return nil, errors.Join(err, repo.Close())
	}
	return b, nil
}

// Explain is Explain for a path that leads into it.
func (b *Dir) Explain(op access.Op, path string) resolved.Decision {
	d := resolved.Explain(b.Resolver, op, path)
	if d.Place != "" {
		d.Place = b.path(d.Place)
	}
	d.Writable = slices.Clone(b.repo.WritePaths())
	for i := range d.Writable {
		d.Writable[i] = b.path(d.Writable[i])
	}
	return d
}
