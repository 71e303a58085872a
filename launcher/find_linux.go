package launcher

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// errNotFound says that no directory of PATH holds the command.
var errNotFound = errors.New("not found in PATH")

// find looks the program up in PATH, as execvp(3) does: a file that exists
// but cannot be executed counts only when no other one can.
func find(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	var denied error
	for _, d := range strings.Split(pathOf(env), ":") {
		if !path.IsAbs(d) {
			d = path.Join(dir, d)
		}
		p := path.Join(d, name)
		var st unix.Stat_t
		if unix.Stat(p, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			continue
		}
		if err := unix.Faccessat(unix.AT_FDCWD, p, unix.X_OK, 0); err != nil {
			denied = err
			continue
		}
		return p, nil
	}
	if denied != nil {
		return "", denied
	}
	return "", errNotFound
}

func pathOf(env []string) string {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			return v
		}
	}
	return ""
}

// startFailure turns the error of a start into the shell's exit code.
func startFailure(name string, err error) (code int, reason string) {
	switch {
	case errors.Is(err, errNotFound), errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return ExitNotFound, fmt.Sprintf("command %q not found inside: %v", name, err)
	}
	return ExitNotExecutable, fmt.Sprintf("command %q cannot be executed: %v", name, err)
}
