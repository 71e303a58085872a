package worker

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const mib = 1 << 20

// written is how many MiB the rows of large writes write: far below what the
// kernel lets be dirty, so that none of them waits for the disk.
func (j *Job) written() int { return min(j.Scale.Large, 64) }

// largeRead opens the large file anew and reads it in pieces of 1 MiB; the
// backing file is in the page cache.
func largeRead(j *Job) (int, error) {
	buf := make([]byte, mib)
	return j.Scale.Large, j.passes(timed, func() error {
		j.Start()
		defer j.Stop()
		return readAll(LargeFile, buf)
	})
}

// largeWrite writes a new file in pieces of 1 MiB and closes it.
func largeWrite(j *Job) (int, error) {
	name := filepath.Join(j.Dir, "large-out")
	return j.written(), j.passes(timed, func() error {
		defer discard(name)
		return writePieces(j, name, unix.O_TRUNC, make([]byte, mib), j.written(), false)
	})
}

// largeSync is largeWrite with an fsync before the close.
func largeSync(j *Job) (int, error) {
	name := filepath.Join(j.Dir, "large-out")
	return j.written(), j.passes(timed, func() error {
		defer discard(name)
		return writePieces(j, name, unix.O_TRUNC, make([]byte, mib), j.written(), true)
	})
}

// overwrite writes over a file that is there: no space to be found for it.
func overwrite(j *Job) (int, error) {
	name := filepath.Join(j.Dir, "large-out")
	defer discard(name)
	return j.written(), j.passes(timed, func() error {
		return writePieces(j, name, 0, make([]byte, mib), j.written(), false)
	})
}

// appendSmall is a log: 512 bytes at a time at the end.
func appendSmall(j *Job) (int, error) {
	name := filepath.Join(j.Dir, "log")
	return j.Scale.Loops, j.passes(timed, func() error {
		defer discard(name)
		return writePieces(j, name, unix.O_APPEND, make([]byte, 512), j.Scale.Loops, false)
	})
}

// writePieces writes a file by the clock, from the first write to the close.
func writePieces(j *Job, name string, flag int, piece []byte, n int, sync bool) error {
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
	if sync {
		if err := unix.Fsync(fd); err != nil {
			_ = unix.Close(fd)
			return err
		}
	}
	return unix.Close(fd)
}

// randomReads reads pages of the large file here and there, each time the same
// ones.
func randomReads(j *Job) (int, error) {
	const page = 4096
	buf := make([]byte, page)
	pages := int64(j.Scale.Large) * mib / page
	return j.Scale.Loops, j.passes(timed, func() error {
		fd, err := unix.Open(LargeFile, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		order := rand.New(rand.NewPCG(1, 2))
		j.Start()
		defer j.Stop()
		for range j.Scale.Loops {
			if n, err := unix.Pread(fd, buf, order.Int64N(pages)*page); err != nil || n != page {
				return fmt.Errorf("read %d of %d: %w", n, page, err)
			}
		}
		return nil
	})
}
