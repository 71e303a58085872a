package pathresolver

import (
	"os"
	"path/filepath"
	"strings"
)

// systemDirs are too broad as a root: exactly these.
var systemDirs = []string{
	"/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/media", "/mnt", "/opt",
	"/private", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var", "/var/tmp",
	"/Applications", "/Library", "/System", "/Users", "/Volumes",
}

// systemTrees are too broad as a root, and so is all that lies beneath them.
var systemTrees = []string{"/boot", "/dev", "/etc", "/proc", "/sys", "/System"}

// broadRoot says why a directory should not be a root without being asked
// for: "" if it may. root is absolute, with its links resolved.
func broadRoot(root string, info os.FileInfo) string {
	if filepath.Dir(root) == root {
		return "the root of the file system"
	}
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		if h, err := os.Stat(home); err == nil && os.SameFile(h, info) {
			return "your home directory"
		}
		if real, err := filepath.EvalSymlinks(home); err == nil && strings.HasPrefix(real, root+string(filepath.Separator)) {
			return "a directory that holds your home directory"
		}
	}
	for _, dir := range systemDirs {
		if s, err := os.Stat(dir); err == nil && os.SameFile(s, info) {
			return "a system directory"
		}
	}
	for _, dir := range systemTrees {
		// /dev/shm is for users' files, and is not the system's.
		if strings.HasPrefix(root, dir+"/") && !strings.HasPrefix(root, "/dev/shm/") {
			return "a system directory"
		}
	}
	return ""
}
