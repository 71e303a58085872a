package pathresolver

import "github.com/pinfold-dev/pinfold/internal/gitrepo"

// checkGitConfig says whether text may be the configuration of the git directory
// that the place to lies in.
func (r *Resolver) checkGitConfig(to string, text []byte) error {
	dir, _ := splitPlace(to)
	if err := gitrepo.CheckMade(text, dir); err != nil {
		return r.gitDenied(OpRename, to, RuleGitContent, "in the configuration of a repository that was made here, "+err.Error())
	}
	return nil
}
