package worker

import (
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

const pageSize = 4096

// mapped is how much of a file is mapped, in bytes.
const mapped = 16 * mib

// mmapRead maps a part of the large file and touches each page.
func mmapRead(j *Job) (int, error) {
	return mapped / pageSize, j.passes(timed, func() error {
		return j.onMap(LargeFile, unix.O_RDONLY, unix.PROT_READ, func(b []byte) error {
			var sum byte
			for i := 0; i < len(b); i += pageSize {
				sum += b[i]
			}
			runtime.KeepAlive(sum) // or the compiler drops the reads
			return nil
		})
	})
}

// mmapWrite dirties each page of a shared map, unmaps and closes, after which
// the file has it on every side of the environment.
func mmapWrite(j *Job) (int, error) { return j.dirty(func([]byte) error { return nil }) }

// mmapSync also waits until the disk has it.
func mmapSync(j *Job) (int, error) {
	return j.dirty(func(b []byte) error { return unix.Msync(b, unix.MS_SYNC) })
}

// dirty writes to each page of a file that is there, and has after do the rest.
func (j *Job) dirty(after func([]byte) error) (int, error) {
	name := filepath.Join(j.Dir, "map")
	defer discard(name)
	if err := writePieces(j, name, unix.O_TRUNC, make([]byte, mib), mapped/mib, false); err != nil {
		return 0, err
	}
	return mapped / pageSize, j.passes(timed, func() error {
		return j.onMap(name, unix.O_RDWR, unix.PROT_READ|unix.PROT_WRITE, func(b []byte) error {
			for i := 0; i < len(b); i += pageSize {
				b[i]++
			}
			return after(b)
		})
	})
}

// onMap maps the file and calls do, by the clock up to the close.
func (j *Job) onMap(name string, flag, prot int, do func([]byte) error) error {
	fd, err := unix.Open(name, flag|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	j.Start()
	defer j.Stop()
	b, err := unix.Mmap(fd, 0, mapped, prot, unix.MAP_SHARED)
	if err != nil {
		_ = unix.Close(fd)
		return err
	}
	err = do(b)
	if e := unix.Munmap(b); err == nil {
		err = e
	}
	if e := unix.Close(fd); err == nil {
		err = e
	}
	return err
}
