package worker

import (
	"os"
	"path/filepath"
)

// GitConfig is what GitConfigFile says: trust a repository that belongs to
// somebody else, as the tree is root's also for ordinary users; and do not
// compare inode numbers, which some of the peers make up.
const GitConfig = "[safe]\n\tdirectory = *\n[core]\n\tcheckStat = minimal\n[gc]\n\tauto = 0\n"

// GitEnv makes git follow GitConfigFile in the tree at top, and not the
// machine's settings.
func GitEnv(top string) []string {
	return []string{
		"GIT_CONFIG_GLOBAL=" + filepath.Join(top, GitConfigFile), "GIT_CONFIG_SYSTEM=/dev/null", "GIT_OPTIONAL_LOCKS=0",
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@example.org", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.org", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z",
		"GIT_DISCOVERY_ACROSS_FILESYSTEM=1",
	}
}

func (j *Job) git(dir string, args ...string) line {
	return line{argv: append([]string{"git"}, args...), dir: dir, env: GitEnv(j.Top)}
}

func gitStatus(j *Job) line { return j.git(RepoDir, "status", "--porcelain") }

// clone copies the repository's objects, since hard links do not go from one
// part of a view to the other.
func (j *Job) clone() (dir string, l line, err error) {
	dir = filepath.Join(j.Dir, "clone")
	return dir, j.git("", "clone", "-q", "--no-hardlinks", RepoDir, dir), os.RemoveAll(dir)
}

func gitClone(j *Job) (int, error) {
	return 1, j.passes(1, func() error {
		dir, clone, err := j.clone()
		if err != nil {
			return err
		}
		defer discard(dir)
		j.Start()
		defer j.Stop()
		return clone.run()
	})
}

// gitCheckout goes to the other branch and back.
func gitCheckout(j *Job) (int, error) {
	dir, clone, err := j.clone()
	if err != nil {
		return 0, err
	}
	defer discard(dir)
	if err := clone.run(); err != nil {
		return 0, err
	}
	j.Start()
	defer j.Stop()
	for _, branch := range []string{"other", "main"} {
		if err := j.git(dir, "checkout", "-q", branch).run(); err != nil {
			return 0, err
		}
	}
	return 2, nil
}
