//go:build !portable

package pathresolver

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/fsat"
)

// mount is a file system that was mounted beneath the root when New ran. It
// is a root of its own: every walk under RESOLVE_NO_XDEV starts at the
// deepest mount that holds the place, and what was mounted later is refused.
type mount struct {
	place string
	fd    int
	id    fsat.Identity
}

// maxMounts bounds how many mounts beneath one root are admitted.
const maxMounts = 1024

// mountsBeneath opens the mounts beneath root, the deepest last.
func mountsBeneath(r *Resolver, root string) (found []mount, err error) {
	defer func() {
		if err != nil {
			for _, m := range found {
				_ = unix.Close(m.fd)
			}
			found = nil
		}
	}()
	places, err := mountPlaces(root)
	if err != nil {
		return nil, err
	}
	for _, place := range places {
		if len(found) == maxMounts {
			return found, fmt.Errorf("more than %d mounts beneath the root", maxMounts)
		}
		// Descend without crossing anything but the mounts found so far; the
		// last step crosses the one that is wanted.
		r.mounts = found
		m, err := r.openMount(place)
		r.mounts = nil
		if err == errPseudo {
			r.refused = append(r.refused, place)
		}
		if err != nil {
			continue // gone again, or not to be looked into: then it is not admitted
		}
		found = append(found, m)
	}
	return found, nil
}

// pseudo are file systems whose files are not files: writing one changes the
// kernel, and reading one shows other processes. A project that holds a tree
// with its /proc mounted must not give that to an agent.
var pseudo = []int64{
	unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC,
	unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.SELINUX_MAGIC, unix.SMACK_MAGIC,
	unix.BPF_FS_MAGIC, unix.BINFMTFS_MAGIC, unix.DEVPTS_SUPER_MAGIC, unix.EFIVARFS_MAGIC, unix.PSTOREFS_MAGIC,
	unix.NSFS_MAGIC, unix.RDTGROUP_SUPER_MAGIC, unix.XENFS_SUPER_MAGIC,
	0x62656570, // configfs
	0x65735543, // fusectl
	0x19800202, // mqueue
}

var errPseudo = errors.New("a file system of the kernel's own")

func refusePseudo(fd int) error {
	var st unix.Statfs_t
	if err := fsat.Retry(func() error { return unix.Fstatfs(fd, &st) }); err != nil {
		return err
	}
	if slices.Contains(pseudo, st.Type) {
		return errPseudo
	}
	return nil
}

func (r *Resolver) openMount(place string) (mount, error) {
	parent, name := splitPlace(place)
	dir, err := r.openPlace(parent, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return mount{}, err
	}
	defer unix.Close(dir)
	fd, err := fsat.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return mount{}, err
	}
	m := mount{place: place, fd: fd}
	if m.id, err = fsat.Identify(fd); err == nil {
		err = refusePseudo(fd)
	}
	if err == nil && m.id.Mode&unix.S_IFMT == unix.S_IFLNK {
		err = unix.ELOOP
	}
	if err != nil {
		_ = unix.Close(fd)
		return mount{}, err
	}
	return m, nil
}

// mountPlaces lists the mount points beneath root from mountinfo, parents
// first. Where /proc is missing there are none to admit.
func mountPlaces(root string) ([]string, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list mounts: %w", err)
	}
	defer f.Close()
	prefix := strings.TrimSuffix(root, "/") + "/"
	seen := map[string]bool{}
	var places []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 {
			continue
		}
		rest, ok := strings.CutPrefix(unescapeMount(fields[4]), prefix)
		if ok && rest != "" && !seen[rest] {
			seen[rest] = true
			places = append(places, rest)
		}
	}
	sort.Strings(places) // a parent sorts before what lies beneath it
	return places, lines.Err()
}

// unescapeMount undoes the octal escapes of proc_pid_mountinfo(5).
func unescapeMount(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// mountOf returns the deepest mount that holds place, nil for the root's own,
// and the rest of the way from there.
func (r *Resolver) mountOf(place string) (m *mount, rest string) {
	for i := len(r.mounts) - 1; i >= 0; i-- {
		m := &r.mounts[i]
		if within(place, m.place) {
			if place == m.place {
				return m, "."
			}
			return m, place[len(m.place)+1:]
		}
	}
	return nil, place
}

// admitted reports whether the mount at place is the one that stood there, and
// the mode of what was mounted.
func (r *Resolver) admitted(place string, id identity) (mode uint32, ok bool) {
	for i := range r.mounts {
		if m := &r.mounts[i]; m.place == place {
			return m.id.Mode, fsat.SameMount(m.id, id)
		}
	}
	return 0, false
}
