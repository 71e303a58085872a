package worker

import (
	"os"
	"path/filepath"
)

// GitEnv makes git ignore the machine's settings, and trust a repository that
// belongs to somebody else: the tree is root's, also for ordinary users. It
// does not compare inode numbers, which some of the peers make up.
func GitEnv() []string {
	return []string{
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_OPTIONAL_LOCKS=0",
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@example.org", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@example.org", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z",
		"GIT_DISCOVERY_ACROSS_FILESYSTEM=1", "GIT_CONFIG_COUNT=3",
		"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_CONFIG_KEY_1=core.checkStat", "GIT_CONFIG_VALUE_1=minimal",
		"GIT_CONFIG_KEY_2=gc.auto", "GIT_CONFIG_VALUE_2=0",
	}
}

func git(dir string, args ...string) line {
	return line{argv: append([]string{"git"}, args...), dir: dir, env: GitEnv()}
}

func gitStatus(*Job) line { return git(RepoDir, "status", "--porcelain") }

// clone copies the repository's objects, since hard links do not go from one
// part of a view to the other.
func (j *Job) clone() (dir string, l line, err error) {
	dir = filepath.Join(j.Dir, "clone")
	return dir, git("", "clone", "-q", "--no-hardlinks", RepoDir, dir), os.RemoveAll(dir)
}

func gitClone(j *Job) (int, error) {
	dir, clone, err := j.clone()
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	j.Start()
	defer j.Stop()
	return 1, clone.run()
}

// gitCheckout goes to the other branch and back.
func gitCheckout(j *Job) (int, error) {
	dir, clone, err := j.clone()
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := clone.run(); err != nil {
		return 0, err
	}
	j.Start()
	defer j.Stop()
	for _, branch := range []string{"other", "main"} {
		if err := git(dir, "checkout", "-q", branch).run(); err != nil {
			return 0, err
		}
	}
	return 2, nil
}
