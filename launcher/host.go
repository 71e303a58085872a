package launcher

import (
	"os"
	"slices"
)

// systemDirs are shown where they exist, parents first: programs, libraries,
// their configuration, and the package stores of distributions that keep
// those elsewhere.
var systemDirs = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt",
	"/nix/store", "/gnu/store", "/run/current-system", "/var/lib/ca-certificates",
}

// System reports whether an absolute path is or lies in a system directory, which every
// run shows.
func System(path string) bool {
	return slices.ContainsFunc(systemDirs, func(dir string) bool { return beneath(path, dir) })
}

// profileFile is what login shells of the Bourne family read first.
const profileFile = "/etc/profile"

// hostFacts is what newPlan needs to know about the machine and the caller.
type hostFacts struct {
	// Privileged: the caller can mount without a user namespace.
	Privileged bool
	// ID is the user that the command runs as.
	ID userID
	// System are the system directories that exist, parents first.
	System []hostEntry
	// Machine are those of machinePlaces that exist; MachinePrivate, for root, what in
	// them is not for everybody and cannot be mapped away.
	Machine, MachinePrivate []string
	// ResolvConf is the real path of /etc/resolv.conf; "" if there is none.
	ResolvConf string
	// Hosts is the real path of /etc/hosts; "" if there is none. Hostname is this
	// machine's name.
	Hosts, Hostname string
	// RO are Config.RO resolved: the real path, and a link for each name that
	// was given and is not the real path.
	RO []hostEntry
	// Sockets are Config.Sockets, sorted by their places inside.
	Sockets []hostNode
	// Devices are Config.Devices, each once and sorted.
	Devices []hostNode
	// Layers are Config.Layers.
	Layers []hostLayer
	// HomeDir is the real path of Config.Home, if given.
	HomeDir string
	// Private are Config.Private under all their names. Credentials are what
	// variables of Env name, and Homes the homes of the password file that lie in
	// System, likewise. They exist, and their paths have no links. KeptHomes, also among
	// Private, are Config.KeptHomes.
	Private, Credentials, Homes, KeptHomes []string
	// Self is the running program's file; "" if it is gone.
	Self string
	// Profile is what login shells read first, profileFile; nil if there is none.
	Profile []byte
	// Memory is how much the machine has, in bytes; 0: unknown.
	Memory int64
	// Tasks is how many processes and threads there may be inside; 0: cannot
	// be bounded here.
	Tasks int
	// TasksAsked: without that bound nothing is run.
	TasksAsked bool
	// Env is the caller's environment.
	Env []string

	held []*os.File // Sockets and Devices; the caller lets them go once they are shown
}

// hostEntry is a path of the host that is shown inside.
type hostEntry struct {
	Path string
	Link string // for a symbolic link: where it leads
}

// hostNode is a socket or a device of the host that was opened.
type hostNode struct {
	Path string // inside
	From string // outside, without links
	Is   fileID
}

// fileID tells a file from all others, as long as somebody has it open.
type fileID struct{ Dev, Ino uint64 }

// hostLayer is a Layer as it was found: paths without links.
type hostLayer struct {
	Path  string // where it is shown
	Lower string // the host's directory; "" if none is shown
	Dir   string // of the layer
}

// userID is a user.
type userID struct {
	UID, GID int
	Groups   []int
	Name     string
	Home     string
}
