package launcher

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// systemDirs are shown where they exist, parents first: programs, libraries,
// their configuration, and the package stores of distributions that keep
// those elsewhere.
var systemDirs = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt",
	"/nix/store", "/gnu/store", "/run/current-system", "/var/lib/ca-certificates",
}

// LookAtHost collects what NewPlan needs for c.
func LookAtHost(c Config) (Host, error) {
	h := Host{Privileged: privileged(), Env: os.Environ()}
	var err error
	if h.ID, err = identity(c.User); err != nil {
		return h, &SetupError{Step: "look up the user", Err: err}
	}
	for _, d := range systemDirs {
		st, err := os.Lstat(d)
		switch {
		case err != nil:
		case st.Mode()&os.ModeSymlink != 0:
			if to, err := os.Readlink(d); err == nil {
				h.System = append(h.System, Entry{Path: d, Link: to})
			}
		case st.IsDir():
			h.System = append(h.System, Entry{Path: d})
		}
	}
	if p, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
		h.ResolvConf = p
	}
	if p, err := os.Readlink("/proc/self/exe"); err == nil {
		if _, err := os.Lstat(p); err == nil {
			h.Self = p
		}
	}
	for _, p := range c.RO {
		entries, err := resolve(p)
		if err != nil {
			return h, &SetupError{Step: "show --ro", Err: err, Fix: "name a file or directory that exists"}
		}
		h.RO = append(h.RO, entries...)
	}
	if c.Home != "" {
		if h.HomeDir, err = realDir(c.Home); err != nil {
			return h, &SetupError{Step: "show the home", Err: err, Fix: "make the directory first"}
		}
	}
	return h, nil
}

// privileged reports whether namespaces can be made without a user namespace.
func privileged() bool { return os.Geteuid() == 0 && capable(unix.CAP_SYS_ADMIN) }

// capable reports whether this thread has one of the first 32 capabilities.
func capable(capability uint) bool {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&hdr, &data[0]) == nil && data[0].Effective&(1<<capability) != 0
}

// identity is the caller's own, or that of the user who is named.
func identity(name string) (ID, error) {
	if name == "" {
		id := ID{UID: os.Geteuid(), GID: os.Getegid(), Home: os.Getenv("HOME"), Name: os.Getenv("USER")}
		if !filepath.IsAbs(id.Home) {
			id.Home = ""
			if u, err := user.Current(); err == nil {
				id.Home = u.HomeDir
			}
		}
		id.Home = filepath.Clean(id.Home)
		return id, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		if _, number := strconv.Atoi(name); number != nil {
			return ID{}, err
		}
		if u, err = user.LookupId(name); err != nil {
			return ID{}, err
		}
	}
	id := ID{Name: u.Username, Home: filepath.Clean(u.HomeDir)}
	if id.UID, err = strconv.Atoi(u.Uid); err != nil {
		return ID{}, err
	}
	if id.GID, err = strconv.Atoi(u.Gid); err != nil {
		return ID{}, err
	}
	groups, err := u.GroupIds()
	if err != nil {
		return ID{}, err
	}
	for _, g := range groups {
		n, err := strconv.Atoi(g)
		if err != nil {
			return ID{}, err
		}
		id.Groups = append(id.Groups, n)
	}
	return id, nil
}

// resolve finds the real path of p, and keeps p as a link to it where it is
// another name.
func resolve(p string) ([]Entry, error) {
	given, err := filepath.Abs(p)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, err
	}
	if real == given {
		return []Entry{{Path: real}}, nil
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(given))
	if err != nil {
		return nil, err
	}
	entries := []Entry{{Path: real}}
	if name := filepath.Join(parent, filepath.Base(given)); name != real {
		entries = append(entries, Entry{Path: name, Link: real})
	}
	return entries, nil
}

func realDir(p string) (string, error) {
	abs, err := filepath.Abs(p)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !st.IsDir() {
		return "", fmt.Errorf("%q: %w", p, errors.New("not a directory"))
	}
	return real, nil
}
