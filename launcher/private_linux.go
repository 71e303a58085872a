package launcher

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/hostpath"
)

// Bounds on what a strange host can cost.
const (
	maxPasswd = 4 << 20 // bytes of /etc/passwd that are read
	maxHomes  = 4096    // homes beneath system directories that are covered
)

// lookAtPrivate finds what is not to be seen inside: the caller's own state, the
// operator's credentials, and the homes that lie in system directories, each
// under all the names that mounts give it. What is shown has been found before.
func (h *hostFacts) lookAtPrivate(c Config) error {
	mounts, err := hostpath.ReadMounts()
	if err != nil {
		return err
	}
	for _, p := range c.Private {
		names, err := h.settle(p, mounts)
		if err != nil {
			return fmt.Errorf("cover %q: %w", p, err)
		}
		h.Private = append(h.Private, names...)
	}
	if c.KeptHomes != "" {
		if h.KeptHomes, err = h.settle(c.KeptHomes, mounts); err != nil {
			return fmt.Errorf("cover %q: %w", c.KeptHomes, err)
		}
		h.Private = append(h.Private, h.KeptHomes...)
	}
	for _, secret := range Credentials(h.Env) {
		if real, err := filepath.EvalSymlinks(secret.Path); err == nil && !passes(c.Env, secret.Variable) {
			h.Credentials = append(h.Credentials, mounts.Names(real)...)
		}
	}
	file, err := os.Open("/etc/passwd")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // was only read
	homes, err := passwdHomes(file)
	if err != nil {
		return fmt.Errorf("/etc/passwd: %w", err)
	}
	for _, home := range append(homes, h.ID.Home) {
		real, err := filepath.EvalSymlinks(home)
		if err != nil {
			continue // nobody has made it
		}
		for _, name := range mounts.Names(real) {
			if inSystem(h.System, name) && userHome(name) && !slices.Contains(h.Homes, name) {
				h.Homes = append(h.Homes, name)
			}
		}
		if len(h.Homes) > maxHomes {
			return fmt.Errorf("more than %d homes lie beneath system directories", maxHomes)
		}
	}
	slices.Sort(h.Homes)
	return nil
}

// settle returns the names of p. A directory that is not there yet, but would be
// shown once somebody makes it, is made: what does not exist cannot be covered.
func (h *hostFacts) settle(p string, mounts hostpath.Mounts) ([]string, error) {
	real, exists, err := hostpath.Place(p)
	if hostpath.Unreachable(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := mounts.Names(real)
	if exists {
		return names, nil
	}
	if !slices.ContainsFunc(names, h.shows) {
		return nil, nil
	}
	err = os.MkdirAll(real, 0o700)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		return nil, nil // then nobody with these rights makes it later either
	}
	return names, err
}

// shows reports whether --ro or --home shows the place, or would.
func (h *hostFacts) shows(p string) bool {
	if h.HomeDir != "" && beneath(p, h.HomeDir) {
		return true
	}
	return slices.ContainsFunc(h.RO, func(e hostEntry) bool { return e.Link == "" && beneath(p, e.Path) })
}

// passwdHomes are the homes that a file in the format of passwd(5) names, each
// once. Those of users that only a directory service knows are not among them.
func passwdHomes(r io.Reader) (homes []string, err error) {
	seen := map[string]bool{}
	lines := bufio.NewScanner(io.LimitReader(r, maxPasswd))
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) < 7 || !filepath.IsAbs(fields[5]) {
			continue
		}
		if home := filepath.Clean(fields[5]); !seen[home] {
			seen[home] = true
			homes = append(homes, home)
		}
	}
	return homes, lines.Err()
}
