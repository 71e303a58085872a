// Package helper finds the programs of the system that pinfold starts for
// itself, such as fusermount3.
//
// They are not looked up in PATH: the operator's may name ".", a
// node_modules/.bin or a directory of a home that an agent has written to, and
// what lies there would run with the operator's rights, outside of the sandbox.
package helper

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Directories are where the programs of a system lie, the first that has one
// winning: those of the file hierarchy standard, and those that NixOS and Guix
// have in their place, of which the first two hold programs that are
// set-user-id. All belong to root and lie beneath no home.
var Directories = []string{
	"/usr/bin", "/bin", "/usr/sbin", "/sbin",
	"/run/wrappers/bin", "/run/privileged/bin", "/run/setuid-programs", "/run/current-system/sw/bin", "/run/current-system/profile/bin",
}

// Path is the absolute path of a program by its name, which has no slash. The
// error names the directories that were looked at.
func Path(name string) (string, error) { return find(Directories, name) }

func find(dirs []string, name string) (string, error) {
	if name != filepath.Base(name) {
		return "", fmt.Errorf("%q is not the name of a program", name)
	}
	for _, dir := range dirs {
		at := filepath.Join(dir, name)
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return at, nil
		}
	}
	return "", fmt.Errorf("there is no %s in %s (PATH is not looked at)", name, strings.Join(dirs, ", "))
}

// Search is a PATH without the directories that are not absolute, and without
// those for which unsafe is true. It is for commands that the operator named, and
// for what these start in turn.
func Search(path string, unsafe func(dir string) bool) string {
	dirs := filepath.SplitList(path)
	return strings.Join(slices.DeleteFunc(dirs, func(dir string) bool {
		return !filepath.IsAbs(dir) || unsafe(dir)
	}), string(filepath.ListSeparator))
}
