package launcher

// Host is what NewPlan needs to know about the machine and the caller.
type Host struct {
	// Privileged: the caller can mount without a user namespace.
	Privileged bool
	// ID is who the command runs as.
	ID ID
	// System are the system directories that exist, parents first.
	System []Entry
	// ResolvConf is the real path of /etc/resolv.conf; "" if there is none.
	ResolvConf string
	// RO are Config.RO resolved: the real path, and a link for each name that
	// was given and is not the real path.
	RO []Entry
	// HomeDir is the real path of Config.Home, if given.
	HomeDir string
	// Self is the running program's file; "" if it is gone.
	Self string
	// Env is the caller's environment.
	Env []string
}

// Entry is a path of the host that is shown inside.
type Entry struct {
	Path string
	Link string // for a symbolic link: where it leads
}

// ID is a user.
type ID struct {
	UID, GID int
	Groups   []int
	Name     string
	Home     string
}
