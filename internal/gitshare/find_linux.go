package gitshare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pinfold-dev/pinfold/internal/gitrepo"
)

// Find looks at .git in checkout, a directory. It returns nil where that is
// missing or is no regular file, and an *Error where the git directory that it
// names is not one to open: it has to name the checkout too, and to belong to
// one of owners. The caller closes what is returned.
func Find(checkout string, owners ...int) (*Repo, error) {
	checkout, err := realPath(checkout)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(filepath.Join(checkout, ".git"))
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	f := finder{checkout: checkout, owners: owners}
	text, err := readLine(filepath.Join(checkout, ".git"))
	if err != nil {
		return nil, f.refuse("its .git file cannot be read: "+err.Error(), "")
	}
	named, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok || named == "" {
		return nil, f.refuse("its .git file does not begin with 'gitdir: '", "")
	}
	f.gitDir = from(checkout, named)
	real, err := realPath(f.gitDir)
	if err != nil {
		return nil, f.refuse("it is not there", "'git worktree repair' in the main work tree finds what was moved")
	}
	f.gitDir = real
	return f.find()
}

// finder is the look at one checkout.
type finder struct {
	checkout string // real path
	gitDir   string // real path, once it is known
	owners   []int
}

func (f *finder) refuse(reason, fix string) error {
	return &Error{Checkout: f.checkout, GitDir: f.gitDir, Reason: reason, Fix: fix}
}

func (f *finder) find() (r *Repo, err error) {
	r = &Repo{Dir: f.gitDir, Checkout: f.checkout}
	common, err := readLine(filepath.Join(f.gitDir, "commondir"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = f.leadsBack()
	case err != nil:
		return nil, f.refuse("its commondir cannot be read: "+err.Error(), "")
	default:
		err = f.linked(r, common)
	}
	if err != nil {
		return nil, err
	}
	if within(r.Dir, f.checkout) || within(f.checkout, r.Dir) {
		return nil, f.refuse(fmt.Sprintf("%q and the checkout lie within each other", r.Dir), "make the worktree beside the git directory, not in it")
	}
	for _, dir := range []string{f.gitDir, r.Dir} {
		if err := f.owned(dir); err != nil {
			return nil, err
		}
	}
	if r.root, err = os.OpenRoot(r.Dir); err != nil {
		return nil, f.refuse(err.Error(), "")
	}
	if reason := notGit(r.root); reason != "" {
		_ = r.root.Close()
		return nil, f.refuse(reason, "")
	}
	if r.Shared() {
		f.branch(r)
	}
	return r, nil
}

// linked examines the git directory of a linked worktree.
func (f *finder) linked(r *Repo, common string) (err error) {
	if r.Dir, err = realPath(from(f.gitDir, common)); err != nil {
		return f.refuse("its commondir: "+err.Error(), "")
	}
	if filepath.Dir(f.gitDir) != filepath.Join(r.Dir, "worktrees") {
		return f.refuse(fmt.Sprintf("it does not lie in the worktrees of its common directory %q", r.Dir), "")
	}
	r.Worktree = filepath.Base(f.gitDir)
	back, err := readLine(filepath.Join(f.gitDir, "gitdir"))
	if err != nil {
		return f.refuse("its gitdir file, which names the checkout, cannot be read: "+err.Error(), "")
	}
	if !sameFile(from(f.gitDir, back), filepath.Join(f.checkout, ".git")) {
		return f.refuse(fmt.Sprintf("it is that of another checkout, %q", filepath.Dir(from(f.gitDir, back))),
			"if this checkout was moved, run 'git worktree repair' in it")
	}
	return nil
}

// leadsBack examines a git directory that is the checkout's alone, which says
// where that is by core.worktree.
func (f *finder) leadsBack() error {
	tree := ""
	for _, name := range []string{"config", "config.worktree"} {
		text, err := gitrepo.ReadFile(filepath.Join(f.gitDir, name), maxConfig)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return f.refuse("its "+name+" cannot be read: "+err.Error(), "")
		}
		if value, ok := gitrepo.Setting(text, "core.worktree"); ok {
			tree = value
		}
	}
	switch {
	case tree == "" && filepath.Base(f.gitDir) == ".git":
		return f.refuse(fmt.Sprintf("it is that of another checkout, %q", filepath.Dir(f.gitDir)), "")
	case tree == "":
		return f.refuse("it does not name its checkout, so that any .git file could claim it",
			fmt.Sprintf("if it is yours: git --git-dir=%s config core.worktree %s", shellQuote(f.gitDir), shellQuote(f.checkout)))
	}
	if real, err := realPath(from(f.gitDir, tree)); err != nil || real != f.checkout {
		return f.refuse(fmt.Sprintf("its core.worktree names another checkout, %q", from(f.gitDir, tree)), "")
	}
	return nil
}

// owned is git's safe.directory: who owns a git directory chooses what runs.
func (f *finder) owned(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return f.refuse(err.Error(), "")
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !slices.Contains(f.owners, int(st.Uid)) {
		return f.refuse(fmt.Sprintf("%q belongs to somebody else", dir), "run as the user whose repository it is")
	}
	return nil
}

// notGit says why a directory is none that can be opened in part.
func notGit(root *os.Root) string {
	for name, dir := range map[string]bool{"HEAD": false, "objects": true, "refs": true} {
		info, err := root.Lstat(name)
		if err != nil || info.IsDir() != dir || !dir && !info.Mode().IsRegular() {
			return "it is no git directory: there is no " + name
		}
	}
	if _, err := root.Lstat("reftable"); err == nil {
		return "its refs are kept in a reftable, of which no part can be opened"
	}
	return ""
}

// maxWorktrees bounds the worktrees that are looked at.
const maxWorktrees = 10_000

// branch finds the branch of the worktree. One that is checked out elsewhere is
// not its own: git itself refuses that, so something else wrote HEAD.
func (f *finder) branch(r *Repo) {
	own := branchOf(f.gitDir)
	if own == "" || own == branchOf(r.Dir) && !bare(r.Dir) {
		return
	}
	dir, err := os.Open(filepath.Join(r.Dir, "worktrees"))
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }() // was only read
	names, err := dir.Readdirnames(maxWorktrees)
	if err != nil || len(names) == maxWorktrees {
		return
	}
	for _, name := range names {
		for _, at := range []string{"", "HEAD", "rebase-merge", "rebase-apply"} {
			if info, err := os.Lstat(filepath.Join(r.Dir, "worktrees", name, at)); err == nil && info.Mode()&os.ModeSymlink != 0 {
				return // no link is followed to see what is checked out there
			}
		}
		if name != r.Worktree && branchOf(filepath.Join(r.Dir, "worktrees", name)) == own {
			return
		}
	}
	r.Branch = own
}

// branchOf is the branch that is checked out with a git directory, or that is
// being rebased there, when HEAD names none. It is "" where there is none.
func branchOf(gitDir string) string {
	for _, name := range []string{"HEAD", "rebase-merge/head-name", "rebase-apply/head-name"} {
		text, err := readLine(filepath.Join(gitDir, filepath.FromSlash(name)))
		ref := strings.TrimSpace(strings.TrimPrefix(text, "ref: "))
		if err == nil && strings.HasPrefix(ref, "refs/heads/") && filepath.ToSlash(filepath.Clean(ref)) == ref {
			return ref
		}
	}
	return ""
}

// bare reports whether the repository has no main work tree, whose HEAD then
// says nothing about who works where.
func bare(gitDir string) bool {
	text, err := gitrepo.ReadFile(filepath.Join(gitDir, "config"), maxConfig)
	value, _ := gitrepo.Setting(text, "core.bare")
	return err == nil && (value == "true" || value == "yes" || value == "on" || value == "1")
}

const (
	maxLine   = 8 << 10 // of a file that holds a path or a ref, in bytes
	maxConfig = 1 << 20
)

// readLine reads a file of one line.
func readLine(name string) (string, error) {
	data, err := gitrepo.ReadFile(name, maxLine)
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(string(data), "\r\n")
	if text == "" || strings.ContainsAny(text, "\n\x00") {
		return "", errors.New("it is not one line")
	}
	return text, nil
}

// from is path as it is meant in a file in dir.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func sameFile(a, b string) bool {
	one, err := os.Lstat(a)
	two, err2 := os.Lstat(b)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// within reports whether path is dir or lies beneath it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// shellQuote is a word for a shell.
func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
