package sandboxfs

// HostOp is what the host did to a name or a file.
type HostOp string

// What WatchHost has repeated.
const (
	HostProbe  HostOp = "probe"  // look Name up, which is not there: it shows that the thread is the right one
	HostCreate HostOp = "create" // make Name, of the type in Mode
	HostDelete HostOp = "delete" // remove Name, a directory if Mode says so
	HostRename HostOp = "rename" // move Name to ToName in ToDir
	HostModify HostOp = "modify" // truncate(2) Name to the size that it has
	HostAttrib HostOp = "attrib" // chmod(2) Name to the mode that it has
	HostClose  HostOp = "close"  // open Name for writing, and close it
)

// HostEvent is something that the host did in the tree of a view. Directories are
// relative to the root of the mount, "." for the root itself; a Name of "" is the
// directory or file itself.
type HostEvent struct {
	Mount  int // in View.Mounts
	Op     HostOp
	Dir    string
	Name   string
	ToDir  string
	ToName string
	Mode   uint32 // S_IFMT bits
}
