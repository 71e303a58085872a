package hostfile

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSocketDanger(t *testing.T) {
	for path, says := range map[string]string{
		"/run/docker.sock": "root there", "/run/user/1000/podman/podman.sock": "root there", "/run/containerd/containerd.sock": "root there",
		"/var/lib/incus/unix.socket": "root there", "/run/libvirt/libvirt-sock": "root there",
		"/run/user/1000/bus": "start programs outside", "/run/dbus/system_bus_socket": "start programs outside", "/run/user/1000/systemd/private": "start programs outside",
		"/tmp/tmux-1000/default": "terminals", "/run/user/1000/emacs/server": "terminals",
		"/run/user/1000/gnupg/S.gpg-agent": "export of keys",
	} {
		assert.Contains(t, SocketDanger(path), says, path)
	}
	for _, path := range []string{"/tmp/ssh-x/agent.1", "/run/user/1000/gnupg/S.gpg-agent.extra", "/srv/unix.socket", "/run/postgresql/.s.PGSQL.5432"} {
		assert.Empty(t, SocketDanger(path), path)
	}
}
