package launcher

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/hostpath"
)

// lookAtHost collects what newPlan needs for c.
func lookAtHost(c Config) (hostFacts, error) {
	h := hostFacts{Privileged: privileged(), Env: os.Environ()}
	h.Memory, h.Tasks = memory(), tasks()
	if c.Memory > 0 {
		h.Memory = min(cmp.Or(h.Memory, c.Memory), c.Memory) // what lies in tmpfs counts
	}
	if c.MaxTasks > 0 && namespaceBounds(c.MaxTasks) {
		h.Tasks, h.TasksAsked = c.MaxTasks, true
	}
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
				h.System = append(h.System, hostEntry{Path: d, Link: to})
			}
		case st.IsDir():
			h.System = append(h.System, hostEntry{Path: d})
		}
	}
	h.lookAtMachine()
	if p, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
		h.ResolvConf = p
	}
	if c.Gateway != nil {
		h.Hosts, _ = filepath.EvalSymlinks("/etc/hosts") // there need be none
		h.Hostname, _ = os.Hostname()
	}
	if p, err := os.Readlink("/proc/self/exe"); err == nil {
		if _, err := os.Lstat(p); err == nil {
			h.Self = p
		}
	}
	h.Profile = readProfile()
	written := c.Written
	if c.Home != "" {
		if h.HomeDir, err = realDir(c.Home, written); err != nil {
			return h, namedError("--home", c.Home, err, "make the directory first")
		}
		written = append(slices.Clip(written), h.HomeDir)
	}
	for _, p := range c.RO {
		entries, err := resolve(p, written)
		if err != nil {
			return h, namedError("--ro", p, err, "name a file or directory that exists, or leave --ro away")
		}
		h.RO = append(h.RO, entries...)
	}
	if err := h.lookAtSockets(c); err != nil {
		return h, err
	}
	if err := h.lookAtDevices(c); err != nil {
		return h, err
	}
	if h.Layers, err = lookAtLayers(c.Layers, written); err != nil {
		return h, err
	}
	if err := h.lookAtPrivate(c); err != nil {
		return h, &SetupError{Step: "find what is private", Err: err}
	}
	return h, nil
}

// readProfile reads profileFile where it is a plain file, of a length that such files
// have.
func readProfile() []byte {
	const most = 64 << 10
	st, err := os.Lstat(profileFile)
	if err != nil || !st.Mode().IsRegular() || st.Size() > most {
		return nil
	}
	data, _ := os.ReadFile(profileFile) // without it login shells go without pinfold
	return data
}

// privileged reports whether namespaces can be made without a user namespace, and
// root's groups be dropped. In a user namespace that an ordinary user has made they
// cannot (user_namespaces(7)): who is root there is treated as that user would be.
func privileged() bool {
	return os.Geteuid() == 0 && capable(unix.CAP_SYS_ADMIN) && mayDropGroups()
}

func mayDropGroups() bool {
	data, err := os.ReadFile("/proc/self/setgroups")
	return err != nil || strings.TrimSpace(string(data)) != "deny"
}

// capable reports whether this thread has one of the first 32 capabilities.
func capable(capability uint) bool {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&hdr, &data[0]) == nil && data[0].Effective&(1<<capability) != 0
}

// identity is the caller's own, or that of the user who is named.
func identity(name string) (userID, error) {
	if name == "" {
		id := userID{UID: os.Geteuid(), GID: os.Getegid(), Home: os.Getenv("HOME"), Name: os.Getenv("USER")}
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
			return userID{}, err
		}
		if u, err = user.LookupId(name); err != nil {
			return userID{}, err
		}
	}
	id := userID{Name: u.Username, Home: filepath.Clean(u.HomeDir)}
	if id.UID, err = strconv.Atoi(u.Uid); err != nil {
		return userID{}, err
	}
	if id.GID, err = strconv.Atoi(u.Gid); err != nil {
		return userID{}, err
	}
	groups, err := u.GroupIds()
	if err != nil {
		return userID{}, err
	}
	for _, g := range groups {
		n, err := strconv.Atoi(g)
		if err != nil {
			return userID{}, err
		}
		id.Groups = append(id.Groups, n)
	}
	return id, nil
}

// plantedError says that a path leads over a link that a run may have made.
type plantedError struct{ named, link, real string }

func (e *plantedError) Error() string {
	return fmt.Sprintf("%q leads over %q, a link in a place that a run could write, to %q", e.named, e.link, e.real)
}

// namedError is what is wrong with a path that a flag names.
func namedError(flag, named string, err error, fix string) *SetupError {
	var planted *plantedError
	var missing *fs.PathError
	if errors.As(err, &missing) && missing.Path != named {
		err = fmt.Errorf("%q: %w", named, err)
	}
	if errors.As(err, &planted) {
		fix = fmt.Sprintf("if that is what you mean, name it: %s %q", flag, planted.real)
	}
	return &SetupError{Step: "show " + flag, Err: err, Fix: fix}
}

// follow finds where p leads. A link in one of these places does not lead out of it.
func follow(p string, written []string) (given, real string, err error) {
	if given, err = filepath.Abs(p); err != nil {
		return "", "", err
	}
	path, err := hostpath.Resolve(given)
	if err != nil {
		return "", "", err
	}
	if link, planted := path.Planted(written); planted {
		return "", "", &plantedError{given, link, path.Real}
	}
	return given, path.Real, nil
}

// resolve finds the real path of p, and keeps p as a link to it where it is
// another name.
func resolve(p string, written []string) ([]hostEntry, error) {
	given, real, err := follow(p, written)
	if err != nil {
		return nil, err
	}
	if real == given {
		return []hostEntry{{Path: real}}, nil
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(given))
	if err != nil {
		return nil, err
	}
	entries := []hostEntry{{Path: real}}
	if name := filepath.Join(parent, filepath.Base(given)); name != real {
		entries = append(entries, hostEntry{Path: name, Link: real})
	}
	return entries, nil
}

func realDir(p string, written []string) (string, error) {
	_, real, err := follow(p, written)
	if err != nil {
		return "", err
	}
	st, err := os.Lstat(real)
	if err != nil {
		return "", err
	}
	if !st.IsDir() {
		return "", fmt.Errorf("%q: %w", p, errors.New("not a directory"))
	}
	return real, nil
}

// memory is how much the machine has, in bytes; 0: unknown.
func memory() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram * uint64(info.Unit))
}

// boundsTasks reports whether the kernel has a bound for each process namespace.
func boundsTasks() bool {
	major, minor := kernelVersion()
	return major > 6 || major == 6 && minor >= 14
}

// tasks is how many processes and threads there may be inside; 0 where the bound
// would not be the process namespace's own but the whole machine's: before Linux 6.14.
func tasks() int {
	if !boundsTasks() {
		return 0
	}
	return max(leastTasks, tasksPerCPU*runtime.NumCPU())
}
