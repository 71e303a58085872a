package worker

import (
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

const pageSize = 4096

// mapped is how much of a file is mapped, in bytes.
const mapped = 16 * mib

// mmapRead maps a part of the large file and touches each page, after once
// off the clock.
func mmapRead(j *Job) (int, error) {
	if err := touch(nil); err != nil {
		return 0, err
	}
	return mapped / pageSize, touch(&j.Timer)
}

func touch(t *Timer) error {
	fd, err := unix.Open(LargeFile, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if t != nil {
		t.Start()
		defer t.Stop()
	}
	b, err := unix.Mmap(fd, 0, mapped, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	var sum byte
	for i := 0; i < len(b); i += pageSize {
		sum += b[i]
	}
	runtime.KeepAlive(sum) // or the compiler drops the reads
	return unix.Munmap(b)
}

// mmapWrite dirties each page of a shared map and syncs it.
func mmapWrite(j *Job) (int, error) {
	name := filepath.Join(j.Dir, "map")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return 0, err
	}
	defer discard(name)
	defer f.Close()
	if err := f.Truncate(mapped); err != nil {
		return 0, err
	}
	j.Start()
	defer j.Stop()
	b, err := unix.Mmap(int(f.Fd()), 0, mapped, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return 0, err
	}
	for i := 0; i < len(b); i += pageSize {
		b[i] = 1
	}
	if err := unix.Msync(b, unix.MS_SYNC); err != nil {
		return 0, err
	}
	return mapped / pageSize, unix.Munmap(b)
}
