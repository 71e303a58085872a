package sandboxfs

import "path/filepath"

// MountAdded mounts, beneath the mount point of the view, what Allow wants mounted.
func (v *View) MountAdded(i int, dir string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.mountOne(i, filepath.Join(dir, v.layout.at(i).Place))
}
