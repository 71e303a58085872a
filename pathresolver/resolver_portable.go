//go:build !linux || portable

package pathresolver

import (
	"os"
)

// handles is what a Resolver holds open where only os.Root is to be had.
//
// os.Root keeps every access beneath the root, whatever happens to the tree
// meanwhile. The rules within the root (write paths, hidden and protected
// names) are decided by a walk over names and compared again after the open;
// they hold for a tree that nobody changes at that very moment.
type handles struct{ dir *os.Root }

func (r *Resolver) noRoot() {}

func (r *Resolver) openRoot(path string, _ bool) (err error) {
	r.dir, err = os.OpenRoot(path)
	return err
}

func (r *Resolver) settle() {}

// Close releases the root. Handles that were given out stay valid.
func (r *Resolver) Close() error {
	if r.dir == nil {
		return os.ErrClosed
	}
	err := r.dir.Close()
	r.dir = nil
	return err
}

// Mode says how places are reached: "openat2", "walker", or "os.Root" on
// systems other than Linux.
func (r *Resolver) Mode() string { return "os.Root" }
