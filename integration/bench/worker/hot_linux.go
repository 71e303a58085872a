package worker

import (
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// hotFiles are opened again and again: what a build or an editor does with
// the few files at hand.
const hotFiles = 64

func smallFile(i int) string {
	return filepath.Join(SmallDir, fmt.Sprintf("d%03d", i/FilesPerDir), fmt.Sprintf("f%02d.go", i%FilesPerDir))
}

// SmallFile is the place of the i-th file of SmallDir.
func SmallFile(i int) string { return smallFile(i) }

// A hot row goes on until it has taken this long, or this many times its
// repetitions: what is fast needs many to stand out from the clock's own noise.
const (
	hotTime   = 20 * time.Millisecond
	hotBlocks = 20
)

// hot calls do for each of the hot files in turn, j.Scale.Loops times or
// more, after once through off the clock.
func hot(j *Job, name func(int) string, do func(path string) error) (int, error) {
	paths := make([]string, hotFiles)
	for i := range paths {
		paths[i] = name(i)
		if err := do(paths[i]); err != nil {
			return 0, fmt.Errorf("%s: %w", paths[i], err)
		}
	}
	j.Start()
	defer j.Stop()
	calls := 0
	for block := 0; block < hotBlocks && (block == 0 || time.Since(j.since) < hotTime); block++ {
		for i := range j.Scale.Loops {
			if err := do(paths[i%hotFiles]); err != nil {
				return 0, fmt.Errorf("%s: %w", paths[i%hotFiles], err)
			}
		}
		calls += j.Scale.Loops
	}
	return calls, nil
}

func openHot(j *Job) (int, error) { return hot(j, smallFile, openClose) }

func openClose(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func readSmall(j *Job) (int, error) {
	buf := make([]byte, 64<<10)
	return hot(j, smallFile, func(path string) error { return readAll(path, buf) })
}

// readAll reads to the end with system calls, as cat does.
func readAll(path string, buf []byte) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Read(fd, buf)
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
	}
}

func statHot(j *Job) (int, error) {
	var st unix.Stat_t
	return hot(j, smallFile, func(path string) error { return unix.Lstat(path, &st) })
}

func missing(j *Job) (int, error) {
	var st unix.Stat_t
	name := func(i int) string { return smallFile(i) + ".missing" }
	return hot(j, name, func(path string) error {
		if err := unix.Lstat(path, &st); err != unix.ENOENT {
			return fmt.Errorf("not missing: %w", err)
		}
		return nil
	})
}

// openCold opens every tenth file, once.
func openCold(j *Job) (int, error) {
	n := j.Scale.Small / 10
	j.Start()
	defer j.Stop()
	for i := range n {
		if err := openClose(smallFile(i*10 + 7)); err != nil {
			return 0, err
		}
	}
	return n, nil
}
