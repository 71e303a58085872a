package pathresolver

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/gitrepo"
)

// guardConfigured protects what configuration, the repository's and the
// operator's, makes git run or read by itself: what it names beneath the root is
// as good as a hook. What cannot be understood is a violation, since git may
// understand it.
func (r *Resolver) guardConfigured(f *findings) *gitrepo.Repository {
	repo, err := gitrepo.Inspect(r.root, gitrepo.HostEnvironment())
	if err != nil {
		f.add(r.unclear(err, ".git"))
		return nil
	}
	r.guardNamed(f, repo)
	r.guardAbove(f)
	for _, tree := range repo.Worktrees {
		if place, ok := r.placeOf(tree); ok {
			r.git.ways.addWithin("a work tree of the repository", place)
		}
	}
	for _, dir := range []string{repo.GitDir, repo.CommonDir} {
		if place, ok := r.placeOf(dir); ok && place != "." && place != ".git" && !within(place, ".git") {
			r.git.dirs = append(r.git.dirs, place)
		}
	}
	return repo
}

// unclear says that what git would do cannot be told.
func (r *Resolver) unclear(err error, gitDir string) Violation {
	v := Violation{Code: codeGitUnclear, Field: "git", Value: gitDir,
		Message: "what git on the host would run here cannot be told: " + EscapePath(err.Error()),
		Hint:    "fix or remove that file; --unprotect .git would leave all of git's files unprotected"}
	var e *gitrepo.Error
	if errors.As(err, &e) {
		v.Value = e.File
	}
	return v
}

// guardNamed protects what a repository's configuration names beneath the root.
func (r *Resolver) guardNamed(f *findings, repo *gitrepo.Repository) {
	var globs []glob
	for _, n := range repo.Named {
		place, ok := r.placeNamed(n)
		if !ok {
			continue
		}
		if place == "." && n.Glob == "" {
			f.add(Violation{Code: codeGitUnclear, Field: "git", Value: n.Path,
				Message: fmt.Sprintf("git runs what lies in the whole of the sandbox root: %s names it", r.namedBy(n))})
			continue
		}
		text, called := globNamed(n, place)
		g, err := compileGlob(text)
		if err != nil {
			f.add(Violation{Code: codeGitUnclear, Field: "git", Value: n.Path,
				Message: fmt.Sprintf("%s names '%s', which cannot be protected: %s", r.namedBy(n), EscapePath(called), err)})
			continue
		}
		g.text, g.origin = called, r.namedBy(n)
		globs = append(globs, g)
		for _, above := range waysTo(n, place) {
			r.git.ways.add(g.origin, above)
		}
	}
	if len(globs) > 0 {
		r.protect = newRuleSet(append(r.protect.all, globs...))
	}
	r.noteRunners(f, repo)
}

// guardAbove is guardConfigured for the repositories in whose work tree the root lies.
// Git looks for one upwards, so the root can be a part of a larger repository, or a
// submodule, and hold what the larger one's configuration names. A repository that
// belongs to somebody else is left out, as git leaves it out (safe.directory in
// git-config(1)).
func (r *Resolver) guardAbove(f *findings) {
	for dir := filepath.Dir(r.root); ; dir = filepath.Dir(dir) {
		if dotGit := filepath.Join(dir, ".git"); usedBy(dotGit) {
			repo, err := gitrepo.Inspect(dir, gitrepo.HostEnvironment())
			if err != nil {
				f.add(r.unclear(err, dotGit))
				return
			}
			r.guardNamed(f, repo)
		}
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// gitBeneath is the git directory that a file .git at the root names beneath the
// root; "" if there is none.
func (r *Resolver) gitBeneath(repo *gitrepo.Repository) string {
	if repo == nil || repo.Kind != gitrepo.GitFile {
		return ""
	}
	place, ok := r.placeOf(repo.GitDir)
	if !ok || place == "." || place == ".git" {
		return ""
	}
	return place
}

// placeOf is the place of an absolute path without links.
func (r *Resolver) placeOf(path string) (string, bool) {
	if path == r.root {
		return ".", true
	}
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(r.root, string(filepath.Separator))+string(filepath.Separator))
	return filepath.ToSlash(rest), ok && rest != ""
}

// namedBy says where configuration names something, without a path of the host
// that lies elsewhere.
func (r *Resolver) namedBy(n gitrepo.Named) string {
	file, ok := r.placeOf(n.File)
	if !ok {
		file = "the operator's git configuration"
	}
	turns := ""
	if n.Attributes() {
		turns = ", which attributes turn on"
	}
	if n.Line > 0 {
		return fmt.Sprintf("%s%s (%s:%d)%s", byGit, n.Key, EscapePath(file), n.Line, turns)
	}
	return fmt.Sprintf("%s%s (%s)%s", byGit, n.Key, EscapePath(file), turns)
}
