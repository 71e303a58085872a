package worker

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const mib = 1 << 20

// largeRead opens the large file anew and reads it in pieces of 1 MiB; the
// backing file is in the page cache.
func largeRead(j *Job) (int, error) {
	buf := make([]byte, mib)
	if err := readAll(LargeFile, buf); err != nil {
		return 0, err
	}
	j.Start()
	defer j.Stop()
	return j.Scale.Large, readAll(LargeFile, buf)
}

// largeWrite writes a new file in pieces of 1 MiB and closes it.
func largeWrite(j *Job) (int, error) {
	name := filepath.Join(j.Dir, "large-out")
	defer discard(name)
	return j.Scale.Large, writePieces(j, name, unix.O_TRUNC, make([]byte, mib), j.Scale.Large)
}

// appendSmall is a log: 512 bytes at a time at the end.
func appendSmall(j *Job) (int, error) {
	name := filepath.Join(j.Dir, "log")
	defer discard(name)
	return j.Scale.Loops, writePieces(j, name, unix.O_APPEND, make([]byte, 512), j.Scale.Loops)
}

func writePieces(j *Job, name string, flag int, piece []byte, n int) error {
	fd, err := unix.Open(name, flag|unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	j.Start()
	defer j.Stop()
	for range n {
		if m, err := unix.Write(fd, piece); err != nil || m != len(piece) {
			_ = unix.Close(fd)
			return fmt.Errorf("wrote %d of %d: %w", m, len(piece), err)
		}
	}
	return unix.Close(fd)
}

func randomReads(j *Job) (int, error) {
	fd, err := unix.Open(LargeFile, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	const page = 4096
	buf := make([]byte, page)
	pages := int64(j.Scale.Large) * mib / page
	order := rand.New(rand.NewPCG(1, 2)) // the same pages for everyone
	j.Start()
	defer j.Stop()
	for range j.Scale.Loops {
		if n, err := unix.Pread(fd, buf, order.Int64N(pages)*page); err != nil || n != page {
			return 0, fmt.Errorf("read %d of %d: %w", n, page, err)
		}
	}
	return j.Scale.Loops, nil
}
