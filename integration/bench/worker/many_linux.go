package worker

import (
	"fmt"
	"os"
	"path/filepath"
)

// many makes a directory for the files of one row; the caller removes it.
func (j *Job) many() (dir string, err error) {
	dir = filepath.Join(j.Dir, "many")
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.Mkdir(dir, 0o755)
}

func (j *Job) each(do func(i int) error) error {
	for i := range j.Scale.Many {
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}

func nth(dir string, i int) string { return filepath.Join(dir, fmt.Sprintf("file-%d", i)) }

func (j *Job) fill(dir string) error {
	data := make([]byte, 100)
	return j.each(func(i int) error { return os.WriteFile(nth(dir, i), data, 0o644) })
}

// create makes files of 100 bytes.
func create(j *Job) (int, error) {
	return j.Scale.Many, j.passes(1, func() error {
		dir, err := j.many()
		if err != nil {
			return err
		}
		defer discard(dir)
		j.Start()
		defer j.Stop()
		return j.fill(dir)
	})
}

func renameMany(j *Job) (int, error) {
	return j.onFiles(func(name string) error { return os.Rename(name, name+".new") })
}

func unlinkMany(j *Job) (int, error) { return j.onFiles(os.Remove) }

// onFiles times do on each of many files.
func (j *Job) onFiles(do func(name string) error) (int, error) {
	return j.Scale.Many, j.passes(1, func() error {
		dir, err := j.many()
		if err != nil {
			return err
		}
		defer discard(dir)
		if err := j.fill(dir); err != nil {
			return err
		}
		j.Start()
		defer j.Stop()
		return j.each(func(i int) error { return do(nth(dir, i)) })
	})
}
