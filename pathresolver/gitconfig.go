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
		v := Violation{Code: CodeGitUnclear, Field: "git", Value: ".git",
			Message: "what git on the host would run here cannot be told: " + EscapePath(err.Error()),
			Hint:    "mend that, or take the protection of git away with --unprotect .git"}
		var e *gitrepo.Error
		if errors.As(err, &e) {
			v.Value = e.File
		}
		f.add(v)
		return nil
	}
	var globs []glob
	for _, n := range repo.Named {
		place, ok := r.placeOf(n.Path)
		if !ok {
			continue
		}
		if place == "." {
			f.add(Violation{Code: CodeGitUnclear, Field: "git", Value: n.Path,
				Message: fmt.Sprintf("git runs what lies in the whole of the sandbox root: %s names it", r.namedBy(n))})
			continue
		}
		g, err := compileGlob(escapeGlob(place))
		if err != nil {
			f.add(Violation{Code: CodeGitUnclear, Field: "git", Value: n.Path,
				Message: fmt.Sprintf("%s names '%s', which cannot be protected: %s", r.namedBy(n), EscapePath(place), err)})
			continue
		}
		g.text, g.origin = place, r.namedBy(n)
		globs = append(globs, g)
	}
	if len(globs) > 0 {
		r.protect = newRuleSet(append(r.protect.all, globs...))
	}
	for _, dir := range []string{repo.GitDir, repo.CommonDir} {
		if place, ok := r.placeOf(dir); ok && place != "." && place != ".git" && !within(place, ".git") {
			r.git.dirs = append(r.git.dirs, place)
		}
	}
	return repo
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
	if n.Line > 0 {
		return fmt.Sprintf("git's %s (%s:%d)", n.Key, EscapePath(file), n.Line)
	}
	return fmt.Sprintf("git's %s (%s)", n.Key, EscapePath(file))
}

// checkGitConfig says whether text may be the configuration of the git directory
// that the place to lies in.
func (r *Resolver) checkGitConfig(to string, text []byte) error {
	dir, _ := splitPlace(to)
	if err := gitrepo.CheckMade(text, dir); err != nil {
		return r.gitDenied(OpRename, to, RuleGitContent, "in the configuration of a repository that was made here, "+err.Error())
	}
	return nil
}
