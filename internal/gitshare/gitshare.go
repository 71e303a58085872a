package gitshare

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Repo is a git directory outside of the checkout that uses it.
type Repo struct {
	// Dir is the tree to show: the common directory of a linked worktree,
	// otherwise the git directory. Absolute, every link resolved.
	Dir string
	// Worktree is the name of the linked worktree, its directory's beneath
	// Dir/worktrees; "" where the git directory is the checkout's alone.
	Worktree string
	// Branch is the ref that the worktree's HEAD named, such as
	// refs/heads/topic; "" where it named none, or one that another worktree
	// has checked out.
	Branch string

	// Checkout is the directory that Find was asked about, without links; "" after
	// Reopen.
	Checkout string

	root *os.Root // Dir, held open
}

// Close lets go of the git directory. A policy made by Config is not used after.
func (r *Repo) Close() error { return r.root.Close() }

// Reopen opens a git directory of which Find has said what it is.
func Reopen(dir, worktree, branch string) (*Repo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Repo{Dir: dir, Worktree: worktree, Branch: branch, root: root}, nil
}

// Shared reports whether other checkouts use the git directory too.
func (r *Repo) Shared() bool { return r.Worktree != "" }

// WritePaths are the places beneath Dir that can be written, for people.
func (r *Repo) WritePaths() []string {
	if !r.Shared() {
		return []string{"."}
	}
	return []string{"logs/refs", "objects", "refs", "worktrees/" + r.Worktree}
}

// Error says why the git directory of a checkout is not opened.
type Error struct {
	Checkout string // the directory that holds the .git file
	GitDir   string // what that names; "" where it names nothing
	Reason   string
	Fix      string // what to do about it; may be empty
}

func (e *Error) Error() string {
	if e.GitDir == "" {
		return fmt.Sprintf("the git directory of %q is not opened: %s", e.Checkout, e.Reason)
	}
	return fmt.Sprintf("the git directory of %q is %q, which is not opened: %s", e.Checkout, e.GitDir, e.Reason)
}

// Hint returns Fix.
func (e *Error) Hint() string { return e.Fix }

// protected are the names in a git directory that decide what git runs, or
// which other files it reads and writes (gitrepository-layout(5),
// git-config(1), gitattributes(5)).
var protected = []string{
	"hooks", "config", "config.worktree", "commondir", "remotes", "branches",
	"info/attributes", "info/grafts", "rr-cache", "MERGE_RR", "objects/info/alternates", "objects/info/http-alternates",
}

// inModules are those of submodules that a glob can name: the refs of a submodule
// have a directory "remotes", too, and the resolver tells the two apart.
var inModules = slices.DeleteFunc(slices.Clone(protected), func(name string) bool { return name == "remotes" || name == "branches" })

// Config is the policy for Dir.
func (r *Repo) Config() pathresolver.Config {
	cfg := pathresolver.Config{Root: r.Dir, WritePaths: []string{"."}, GitWorktree: r.Worktree}
	if r.Checkout != "" {
		cfg.GitTrees = []string{r.Checkout}
	}
	cfg.Restrict = newGuard(r).restrict
	if !r.Shared() {
		cfg.Protect = append(cfg.Protect, protected...)
		for _, name := range inModules {
			cfg.Protect = append(cfg.Protect, "modules/**/"+name)
		}
		return cfg
	}
	own := "worktrees/" + escapeGlob(r.Worktree) + "/"
	cfg.Protect = append(cfg.Protect, "HEAD", "objects/info/alternates", "objects/info/http-alternates",
		own+"gitdir", own+"locked")
	for _, name := range protected {
		cfg.Protect = append(cfg.Protect, own+name, own+"modules/**/"+name)
	}
	return cfg
}

// escapeGlob makes a glob that matches s and nothing else.
func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(s)
}

// forAll are settings for the git inside a repository of which other checkouts
// are not there inside: it would take them for deleted, and expire the logs of
// their refs.
var forAll = [][2]string{
	{"gc.reflogExpire", "never"},
	{"gc.reflogExpireUnreachable", "never"},
	{"gc.worktreePruneExpire", "never"},
}

// forShared are for one whose packed-refs and info/refs stay as they are.
var forShared = append(slices.Clone(forAll), [][2]string{
	{"gc.packRefs", "false"},
	{"repack.updateServerInfo", "false"},
}...)

// Settings are settings of git, each a name and a value, with which its own
// clean-up works inside. What they leave to do the git outside does.
func (r *Repo) Settings() [][2]string {
	if r.Shared() {
		return slices.Clone(forShared)
	}
	if info, err := r.root.Lstat("worktrees"); err == nil && info.IsDir() {
		return WithWorktrees()
	}
	return nil
}

// WithWorktrees are the same for a git directory in the project that has linked
// worktrees.
func WithWorktrees() [][2]string { return slices.Clone(forAll) }
