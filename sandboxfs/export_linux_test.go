package sandboxfs

import (
	"path/filepath"
	"time"
)

// MountAdded mounts, beneath the mount point of the view, what Allow wants mounted.
func (v *View) MountAdded(i int, dir string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.mountOne(i, filepath.Join(dir, v.layout.at(i).Place))
}

// ForeseeAtMost has listings bring so many names with what a look-up would answer.
func ForeseeAtMost(n uint64) (undo func()) {
	before := maxForeseen
	maxForeseen = n
	return func() { maxForeseen = before }
}

// FreshListing is for how long any listing is kept.
const FreshListing = time.Duration(freshListing) * time.Millisecond

// LockWaits is how many wait for a lock.
func (v *View) LockWaits() (count int) {
	v.locks.mu.Lock()
	defer v.locks.mu.Unlock()
	for _, f := range v.locks.files {
		count += len(f.waits)
	}
	return count
}
