package launcher

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/hostpath"
)

// lookAtSockets opens Config.Sockets.
func (h *hostFacts) lookAtSockets(c Config) error {
	for _, at := range slices.Sorted(maps.Keys(c.Sockets)) {
		named := c.Sockets[at]
		const fix = "name a socket that somebody listens on, or leave --socket away"
		node, st, err := h.open(named)
		if err == nil && st.Mode&unix.S_IFMT != unix.S_IFSOCK {
			err = fmt.Errorf("%q: %w", named, errors.New("not a unix socket"))
		}
		if err != nil {
			return namedError("--socket", named, err, fix)
		}
		node.Path = at
		h.Sockets = append(h.Sockets, node)
	}
	return nil
}

// lookAtDevices opens Config.Devices, and refuses those that are not to be shown.
func (h *hostFacts) lookAtDevices(c Config) error {
	for _, named := range c.Devices {
		node, err := h.device(named)
		if err != nil {
			return namedError("--device", named, err, "leave it away")
		}
		if !slices.Contains(h.Devices, node) {
			h.Devices = append(h.Devices, node)
		}
	}
	slices.SortFunc(h.Devices, func(a, b hostNode) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// device opens a device. Links of /dev, such as those of /dev/dri/by-path, are followed
// within it: only root makes them.
func (h *hostFacts) device(named string) (hostNode, error) {
	_, real, err := follow(named, nil)
	if err != nil {
		return hostNode{}, err
	}
	if !beneath(filepath.Clean(named), "/dev") || !beneath(real, "/dev") {
		return hostNode{}, fmt.Errorf("%q is %q, and devices lie in /dev", named, real)
	}
	node, st, err := h.open(real)
	if err != nil {
		return node, err
	}
	kind := st.Mode & unix.S_IFMT
	if kind == unix.S_IFDIR {
		return node, fmt.Errorf("%q is a directory: name a device in it", real)
	}
	node.Path = real
	return node, judgeDevice(real, kind == unix.S_IFCHR, unix.Major(st.Rdev), unix.Minor(st.Rdev))
}

// open opens an absolute path that leads over no link. It stays open.
func (h *hostFacts) open(real string) (node hostNode, st unix.Stat_t, err error) {
	f, err := hostpath.Open(real, unix.O_PATH, 0)
	if err != nil {
		return node, st, err
	}
	h.held = append(h.held, f)
	node.From = real
	node.Is, st, err = identify(int(f.Fd()))
	return node, st, err
}

// letGo closes what was opened.
func (h *hostFacts) letGo() {
	for _, f := range h.held {
		_ = f.Close() // nothing was written
	}
	h.held = nil
}

func identify(fd int) (id fileID, st unix.Stat_t, err error) {
	err = unix.Fstat(fd, &st)
	return fileID{Dev: st.Dev, Ino: st.Ino}, st, err
}
