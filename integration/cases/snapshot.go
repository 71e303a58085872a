package cases

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Snapshot is the ground truth: every name beneath the base directory, by its
// path relative to the root, with all that an operation could change. Access
// and change times, link counts and the times of directories are left out,
// since reading or a neighbour changes them.
type Snapshot map[string]string

// Take walks base, whose directory "root" is the sandbox root. It follows no
// link, opens regular files only, and does not enter procfs.
func Take(base string) (Snapshot, error) {
	s := Snapshot{}
	return s, s.walk(base, "..")
}

func (s Snapshot) walk(dir, rel string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		p, r := dir+"/"+e.Name(), relName(rel, e.Name())
		value, isDir, err := describe(p)
		if err != nil {
			return err
		}
		s[r] = value
		if isDir {
			if err := s.walk(p, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// relName keeps the names beneath the root free of a prefix.
func relName(rel, name string) string {
	switch {
	case rel == ".." && name == "root":
		return "."
	case rel == ".":
		return name
	}
	return rel + "/" + name
}

func describe(p string) (value string, enter bool, err error) {
	info, err := os.Lstat(p)
	if err != nil {
		return "", false, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false, fmt.Errorf("bug: no stat for %q", p)
	}
	value = fmt.Sprintf("%v %d:%d", info.Mode(), st.Uid, st.Gid)
	attrs := make([]byte, 4096)
	if n, err := unix.Llistxattr(p, attrs); err == nil {
		value += " " + string(attrs[:n])
	}
	switch {
	case info.IsDir():
		var fsinfo unix.Statfs_t
		err := unix.Statfs(p, &fsinfo)
		return value, err == nil && fsinfo.Type != unix.PROC_SUPER_MAGIC, err
	case info.Mode().IsRegular():
		data, err := os.ReadFile(p)
		return fmt.Sprintf("%s %v %x", value, info.ModTime().UnixNano(), sha256.Sum256(data)), false, err
	case info.Mode()&os.ModeSymlink != 0:
		target, err := os.Readlink(p)
		return value + " " + target, false, err
	}
	return value, false, nil
}

// Diff lists what changed from s to t: "+path", "-path", "~path", sorted.
func (s Snapshot) Diff(t Snapshot) []string {
	changes := []string{}
	for p, before := range s {
		if after, ok := t[p]; !ok {
			changes = append(changes, "-"+p)
		} else if after != before {
			changes = append(changes, "~"+p)
		}
	}
	for p := range t {
		if _, ok := s[p]; !ok {
			changes = append(changes, "+"+p)
		}
	}
	sort.Strings(changes)
	return changes
}

// Same reports whether changes are exactly the wanted ones, where "+d..."
// stands for +d and all beneath it.
func Same(changes, want []string) bool {
	met := make([]bool, len(want))
next:
	for _, c := range changes {
		for i, w := range want {
			all, isAll := strings.CutSuffix(w, "...")
			if c == w || isAll && (c == all || strings.HasPrefix(c, all+string(filepath.Separator))) {
				met[i] = true
				continue next
			}
		}
		return false
	}
	for _, ok := range met {
		if !ok {
			return false
		}
	}
	return true
}

// Contents is what a tool's work comes down to, for comparing two trees: the
// names beneath dir with type, permissions and content, but for those that
// skip takes out. Owners and times are left out.
func Contents(dir string, skip func(rel string) bool) (Snapshot, error) {
	s := Snapshot{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(p, dir)
		if err != nil || skip(rel) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		value := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			var data []byte
			data, err = os.ReadFile(p)
			value += fmt.Sprintf(" %d bytes %x", len(data), sha256.Sum256(data))
		case info.Mode()&os.ModeSymlink != 0:
			var target string
			target, err = os.Readlink(p)
			value += " " + target
		}
		s[rel] = value
		return err
	})
	return s, err
}
