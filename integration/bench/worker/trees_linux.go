package worker

import (
	"os"
	"path/filepath"
)

// extracted gives a directory that holds the tar's files; the caller removes
// it.
func (j *Job) extracted() (dir string, err error) {
	if dir, err = j.many(); err != nil {
		return "", err
	}
	return dir, line{argv: []string{"tar", "xf", TarFile, "-C", dir}}.run()
}

func tarExtract(j *Job) (int, error) {
	return 1, j.passes(1, func() error {
		dir, err := j.many()
		if err != nil {
			return err
		}
		defer discard(dir)
		j.Start()
		defer j.Stop()
		return line{argv: []string{"tar", "xf", TarFile, "-C", dir}}.run()
	})
}

func copyTree(j *Job) (int, error) {
	dir, err := j.extracted()
	if err != nil {
		return 0, err
	}
	to := filepath.Join(j.Dir, "copy")
	defer discard(dir)
	return 1, j.passes(1, func() error {
		defer discard(to)
		j.Start()
		defer j.Stop()
		return line{argv: []string{"cp", "-r", dir, to}}.run()
	})
}

func removeTree(j *Job) (int, error) {
	dir, err := j.extracted()
	if err != nil {
		return 0, err
	}
	defer discard(dir)
	j.Start()
	defer j.Stop()
	return 1, line{argv: []string{"rm", "-rf", dir}}.run()
}

// goBuild compiles packages that import nothing, so that the row is about
// reading sources and filling a cache, not about the standard library.
func (j *Job) goBuild() line {
	cache := filepath.Join(j.Dir, "go")
	return line{argv: []string{"go", "build", "./..."}, dir: ModuleDir, env: []string{
		"GOCACHE=" + filepath.Join(cache, "cache"), "GOPATH=" + filepath.Join(cache, "path"), "HOME=" + cache,
		"GOENV=off", "GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=local", "GOPROXY=off", "GOWORK=off"}}
}

func goBuildFirst(j *Job) (int, error) {
	if err := os.RemoveAll(filepath.Join(j.Dir, "go")); err != nil {
		return 0, err
	}
	j.Start()
	defer j.Stop()
	return 1, j.goBuild().run()
}

func goBuildSecond(j *Job) (int, error) {
	if err := j.goBuild().run(); err != nil {
		return 0, err
	}
	j.Start()
	defer j.Stop()
	return 1, j.goBuild().run()
}
