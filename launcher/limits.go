package launcher

import "cmp"

// What a run may use up of the machine, so that its end is quick and the host
// stays well. Temporary file systems lie in memory.
const (
	// largePart and smallPart are the shares of memory that a temporary file
	// system may fill: together three quarters of it at most.
	largePart = 4 // /tmp and a private home
	smallPart = 8 // /var/tmp, /dev/shm
	// unknownMemory is assumed where the machine does not say.
	unknownMemory = 4 << 30
	// setUpSize bounds the file systems that only the set-up writes to.
	setUpSize = 16 << 20
	// bytesPerInode and leastInodes bound the number of files in them: each
	// takes a kilobyte of the kernel's memory, however small it is.
	bytesPerInode = 8 << 10
	leastInodes   = 1 << 10

	// leastTasks and tasksPerCPU bound the processes and threads inside: all of
	// them have to be ended, and each has to run for that.
	leastTasks  = 2048
	tasksPerCPU = 512
)

// tmpSize is how much a temporary file system may hold, in bytes.
func tmpSize(c Config, h hostFacts, part int64) int64 {
	if c.TmpSize > 0 {
		return c.TmpSize
	}
	return cmp.Or(h.Memory, unknownMemory) / part
}

// pidMax bounds a process namespace: numbers are used again only once they are
// free, so it bounds how many there are at once.
const pidMax = "/proc/sys/kernel/pid_max"
