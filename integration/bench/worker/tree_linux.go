package worker

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// walk lists every directory of SmallDir and stats every name.
func walk(j *Job) (int, error) {
	j.Start()
	defer j.Stop()
	n := 0
	err := filepath.WalkDir(SmallDir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		n++
		_, err = d.Info()
		return err
	})
	if err == nil && n < j.Scale.Small {
		err = fmt.Errorf("walk saw %d names of %d", n, j.Scale.Small)
	}
	return n, err
}

// readdir lists one large directory, the second time.
func readdir(j *Job) (int, error) {
	buf := make([]byte, 64<<10)
	if _, err := listNames(buf); err != nil {
		return 0, err
	}
	j.Start()
	n, err := listNames(buf)
	j.Stop()
	if err == nil && n < j.Scale.Flat {
		err = fmt.Errorf("readdir saw %d names of %d", n, j.Scale.Flat)
	}
	return n, err
}

func listNames(buf []byte) (names int, err error) {
	fd, err := unix.Open(FlatDir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Getdents(fd, buf)
		if err != nil {
			return 0, err
		}
		if n == 0 {
			return names, nil
		}
		_, count, _ := unix.ParseDirent(buf[:n], -1, nil)
		names += count
	}
}

// parallelReaders is 64 goroutines that read small files at once.
func parallelReaders(j *Job) (int, error) {
	const readers = 64
	each := max(1, j.Scale.Loops/readers)
	errs := make([]error, readers)
	var wg sync.WaitGroup
	j.Start()
	for r := range readers {
		wg.Go(func() {
			buf := make([]byte, 64<<10)
			for i := range each {
				if err := readAll(smallFile((r*each+i)%j.Scale.Small), buf); err != nil {
					errs[r] = err
					return
				}
			}
		})
	}
	wg.Wait()
	j.Stop()
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return readers * each, nil
}
