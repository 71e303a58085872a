package sandboxfs

import "sync/atomic"

// identity tells one file of the backing tree from another, also when an
// inode number is used again: born is folded from the time of birth.
type identity struct {
	ino  uint64
	dev  uint32
	born uint32
}

// node is what the kernel knows by one node id: a name in a directory and the
// file that was found there. A file whose name the host gives to another one
// becomes a new node; the old one answers ESTALE. Nodes hold no descriptor.
// All fields but id, typ, held and listed are guarded by the table's lock.
type node struct {
	id      uint64
	parent  *node // nil for the root of the part, and when the last name is gone
	name    string
	ident   identity
	lookups uint64       // how often the kernel was told, less what it forgot
	kids    uint32       // names that have this node as their directory
	watch   int32        // inotify watch on this directory, 0 if none
	typ     uint16       // S_IFMT bits
	held    atomic.Bool  // something is kept for it elsewhere
	fixed   bool         // the root, or a directory that leads to a nested mount
	listed  atomic.Int32 // age of the part when a listing of it was given
}

// nameKey is where a node is found by name.
type nameKey struct {
	dir  *node
	name string
}

// linkKey is where a file with several hard links is found by what it is. The
// same file under two verdicts is two nodes.
type linkKey struct {
	ident    identity
	writable bool
}
