package hostfile

import (
	"path/filepath"
	"slices"
	"strings"
)

// DangerOfContainers is what whoever reaches a container engine can do.
const DangerOfContainers = "starts containers or machines that see all of the host: it is root there, or whoever runs that service, and no rule of this run counts"

// SocketDanger is what whoever reaches a socket of this name can do outside of the run.
// "" is nothing in particular. It is for a warning: what a socket does only its program knows.
func SocketDanger(real string) string {
	dir, name := filepath.Split(real)
	dir = filepath.Base(dir)
	switch {
	case strings.HasPrefix(name, "X") && dir == ".X11-unix":
		return "types into your windows, and reads what you type: no rule of this run counts"
	case name == "snapd.socket" || strings.HasPrefix(name, "kitty") || strings.HasPrefix(name, "nvim") || strings.HasPrefix(name, "vscode-"):
		return "starts programs outside: no rule of this run counts"
	case slices.Contains([]string{"docker.sock", "podman.sock", "containerd.sock", "crio.sock", "buildkitd.sock", "libvirt-sock", "qemud-sock"}, name),
		slices.Contains([]string{"lxd", "incus"}, dir) && name == "unix.socket":
		return DangerOfContainers
	case name == "bus" || name == "system_bus_socket" || dir == "systemd":
		return "has systemd and other services start programs outside, with your rights: no rule of this run counts"
	case strings.HasPrefix(dir, "tmux-") || strings.HasPrefix(dir, "S-") || strings.HasPrefix(dir, "emacs"):
		return "types into your terminals and editors outside: no rule of this run counts"
	case name == "S.gpg-agent":
		return "is all of gpg-agent, with the export of keys: --socket gpg-agent is the part of it for others"
	}
	return ""
}
