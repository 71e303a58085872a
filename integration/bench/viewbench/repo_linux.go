package viewbench

import (
	"fmt"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/integration/bench/worker"
)

// growRepo makes a repository with some history; the branch "other" differs
// from "main" in every fifth file.
func growRepo(dir string, s worker.Scale) error {
	top := filepath.Join(dir, worker.RepoDir)
	put := func(step, change int) error {
		for i := 0; i < s.Repo; i += step {
			name := fmt.Sprintf("dir%02d/file%04d.go", i/worker.FilesPerDir, i)
			if err := write(filepath.Join(top, name), source(i+change)); err != nil {
				return err
			}
		}
		return nil
	}
	commit := func(message string) error {
		if err := run(dir, top, "git", "add", "-A"); err != nil {
			return err
		}
		return run(dir, top, "git", "commit", "-q", "-m", message)
	}
	if err := put(1, 0); err != nil {
		return err
	}
	if err := run(dir, top, "git", "init", "-q", "-b", "main"); err != nil {
		return err
	}
	if err := commit("start"); err != nil {
		return err
	}
	for n := range 10 {
		if err := put(50, n+1); err != nil {
			return err
		}
		if err := commit(fmt.Sprintf("change %d", n)); err != nil {
			return err
		}
	}
	if err := run(dir, top, "git", "checkout", "-q", "-b", "other"); err != nil {
		return err
	}
	if err := put(5, 3); err != nil {
		return err
	}
	if err := commit("other"); err != nil {
		return err
	}
	if err := run(dir, top, "git", "checkout", "-q", "main"); err != nil {
		return err
	}
	return run(dir, top, "git", "gc", "-q")
}
