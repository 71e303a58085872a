//go:build linux

package launcher

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const insideProbe = "/run/pinfold/bin/probe"

// outside runs a probe as uid without any guard.
func outside(t *testing.T, uid int, stdin *os.File, args ...string) (code int, out string) {
	t.Helper()
	cmd := exec.Command(shared.binary(t), append([]string{"probe"}, args...)...)
	if uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	if stdin != nil {
		cmd.Stdin = stdin
	}
	b, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(b)
}

// What reaches out works outside and fails inside.
func TestNothingReachesOut(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, out := project(t, uid)
		abstract := fmt.Sprintf("@pinfold-test-%d-%d", os.Getpid(), uid)
		listen(t, abstract)
		path := filepath.Join(root, "out", "sock")
		listen(t, path)
		require.NoError(t, os.Chmod(path, 0o777))
		host := exec.Command("sleep", "1000")
		if uid != os.Getuid() {
			host.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		}
		require.NoError(t, host.Start())
		t.Cleanup(func() { _ = host.Process.Kill(); _ = host.Wait() })
		pid := fmt.Sprint(host.Process.Pid)

		tries := []struct {
			args []string
			want string // in the error inside
			root bool   // works outside for root only
		}{
			{[]string{"read", out + "/secret"}, "no such file", false},
			{[]string{"connect", abstract}, "operation not permitted", false},
			{[]string{"connect", path}, "refused", false},
			{[]string{"signal", pid}, "no such process", false},
			{[]string{"look-at-root-of", pid}, "no such file", false},
			{[]string{"keyctl"}, "operation not permitted", false},
			{[]string{"mount-in-userns"}, "operation not permitted", false},
			{[]string{"by-handle", "/usr/bin"}, "operation not permitted", true},
			{[]string{"read", "/etc/shadow"}, "permission denied", true},
			{[]string{"write-open", "/proc/sys/kernel/core_pattern"}, "read-only file system", true},
			{[]string{"write-open", "/proc/sys/vm/drop_caches"}, "read-only file system", true},
			{[]string{"write-open", "/dev/fuse"}, "no such file", true},
			{[]string{"chmod-same", "/dev/null", "666"}, "read-only file system", true},
			{[]string{"chmod-same", "/usr", "755"}, "read-only file system", true},
		}
		for _, try := range tries {
			if try.root && uid != 0 {
				continue
			}
			code, text := outside(t, uid, nil, try.args...)
			assert.Zero(t, code, "unguarded %q: %s", try.args, text)
			got := run(t, job{UID: uid, Root: root, Write: []string{"."}, Command: append([]string{insideProbe, "probe"}, try.args...)}, nil)
			assert.Equal(t, 1, got.code, "%q inside: %s", try.args, got.errOut)
			assert.Contains(t, got.out, try.want, "%q", try.args)
		}
		for _, args := range [][]string{{"umount-in-userns", root}, {"umount-in-userns", "/etc"}, {"umount-in-userns", "/proc/sys"}, {"vsock"}} {
			got := run(t, job{UID: uid, Root: root, Command: append([]string{insideProbe, "probe"}, args...)}, nil)
			assert.Equal(t, 1, got.code, "%q inside: %s", args, got.errOut)
		}
		got := run(t, job{UID: uid, Root: root, Command: []string{insideProbe, "probe", "caps"}}, nil)
		assert.Zero(t, got.code, got.out)
		code, _ := outside(t, uid, nil, "caps")
		assert.Equal(t, 1, code, "outside the same check fails")
	})
}

// What the kernel offers beyond files is kept to what programs need, unless
// sandboxes inside are asked for.
func TestKernelSurface(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, dumps := project(t, uid)
		for _, try := range []struct {
			outside []string
			inside  []string
			want    string // in the error inside
		}{
			{[]string{"unshare"}, nil, "operation not permitted"},
			{[]string{"clone"}, nil, "operation not permitted"},
			{[]string{"clone3"}, nil, "function not implemented"},
			{[]string{"netlink", fmt.Sprint(unix.NETLINK_NETFILTER)}, nil, "protocol not supported"},
			{[]string{"netlink", fmt.Sprint(unix.NETLINK_KOBJECT_UEVENT)}, nil, "protocol not supported"},
			{[]string{"core", fmt.Sprint(1 << 40), dumps}, []string{"core", fmt.Sprint(1 << 40), "out"}, "dumped: false"},
		} {
			code, text := outside(t, uid, nil, try.outside...)
			assert.Zero(t, code, "unguarded %q: %s", try.outside, text)
			if try.inside == nil {
				try.inside = try.outside
			}
			j := job{UID: uid, Root: root, Write: []string{"out"}, Command: append([]string{insideProbe, "probe"}, try.inside...)}
			got := run(t, j, nil)
			assert.Equal(t, 1, got.code, "%q inside: %s", try.inside, got.errOut)
			assert.Contains(t, got.out, try.want, "%q", try.inside)
			// Root's uid gets no user namespace without capabilities, whatever is allowed.
			if j.Nested = true; uid != 0 || try.inside[0] != "unshare" && try.inside[0] != "clone" {
				got = run(t, j, nil)
				assert.Zero(t, got.code, "%q with --nested: %s", try.inside, got.out)
			}
		}
		// A program that turns dumps off by itself is not told that it may not.
		got := run(t, job{UID: uid, Root: root, Write: []string{"out"}, Command: []string{"sh", "-c", "ulimit -c 0 && ulimit -c"}}, nil)
		assert.Zero(t, got.code, got.errOut)
		for _, args := range [][]string{{"netlink", fmt.Sprint(unix.NETLINK_ROUTE)}, {"interfaces"}} {
			got := run(t, job{UID: uid, Root: root, Command: append([]string{insideProbe, "probe"}, args...)}, nil)
			assert.Zero(t, got.code, "%q: %s", args, got.out)
		}
	})
}

// Temporary file systems lie in memory, and hold so much and no more.
func TestTmpIsBounded(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", "$HOME"} {
			for _, c := range []struct {
				probe    string
				few, far int
			}{{"fill", 1 << 20, 9 << 20}, {"files", 500, 2000}} {
				j := job{UID: uid, Root: root, Tmp: 8 << 20, Command: []string{"sh", "-c",
					fmt.Sprintf("exec %s probe %s %s %d", insideProbe, c.probe, dir, c.few)}}
				got := run(t, j, nil)
				assert.Zero(t, got.code, "%s %s: %s", c.probe, dir, got.out)
				j.Command[2] = fmt.Sprintf("exec %s probe %s %s %d", insideProbe, c.probe, dir, c.far)
				got = run(t, j, nil)
				assert.Contains(t, got.out, "no space left on device", "%s %s", c.probe, dir)
				j.Tmp = 0
				got = run(t, j, nil)
				assert.Zero(t, got.code, "%s %s by default: %s", c.probe, dir, got.out)
			}
		}
	})
}

func listen(t *testing.T, name string) {
	t.Helper()
	l, err := net.Listen("unix", name)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
}

// A socket made inside, beneath a write path, works inside.
func TestOwnSocketsWork(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		got := run(t, job{UID: uid, Root: root, Write: []string{"out"}, Command: []string{insideProbe, "probe", "own-socket", "out/s"}}, nil)
		assert.Zero(t, got.code, got.out)
	})
}

// Of the host's sockets those work that are shown for it, and no others.
func TestSocketIsShown(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, out := project(t, uid)
		listen(t, out+"/shown")
		listen(t, out+"/other")
		own(t, uid, out)
		const at = "/run/pinfold/broker.sock"
		j := job{UID: uid, Root: root, Sockets: map[string]string{at: out + "/shown"}, Command: []string{insideProbe, "probe", "connect", at}}
		got := run(t, j, nil)
		assert.Zero(t, got.code, got.out+got.errOut)
		j.Command[3] = out + "/other"
		got = run(t, j, nil)
		assert.Equal(t, 1, got.code)
		j.Command[3], j.Sockets = at, nil
		got = run(t, j, nil)
		assert.Equal(t, 1, got.code)
		assert.Contains(t, got.out, "no such file")
	})
}

// A device that is named is reached, through a link of /dev as well, and no other; what
// has the name of a known device alone is refused. There is no driver behind it: ENXIO
// comes from the device, and not from the file system.
func TestDeviceIsShown(t *testing.T) {
	if os.Getuid() != 0 {
		return // root makes the device, and is an ordinary user here as well
	}
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		const device = "/dev/dri/renderD128"
		j := job{UID: uid, Root: root, Dev: true, Command: []string{"sh", "-c", "ls /dev/dri; chmod 600 " + device + "; : <> " + device}}
		got := run(t, j, nil)
		assert.NotZero(t, got.code)
		assert.NotContains(t, got.errOut, "No such device")
		for _, name := range []string{device, "/dev/dri/by-path/pci-render"} {
			j.Devices = []string{name, device}
			got = run(t, j, nil)
			assert.Contains(t, got.errOut, "No such device or address", name)
			assert.Contains(t, got.errOut, "Read-only file system", "its mode stays the host's")
			assert.Equal(t, "renderD128\n", got.out)
		}
		for name, says := range map[string]string{
			"/dev/dri/card0": "not on the list", "/dev/fuse": "--nested", "/dev/tty": "type into", "/dev/dri": "is a directory", "/etc/passwd": "devices lie in /dev", "/dev/dri/missing": "no such file",
		} {
			j.Devices = []string{name}
			got = run(t, j, nil)
			assert.Equal(t, ExitSetup, got.code, name)
			assert.Contains(t, got.errOut, says, name)
		}
	})
}

// A file given as a stream cannot be opened again through it.
func TestStreamIsNotReopened(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, out := project(t, uid)
		victim := out + "/secret"
		in, err := os.Open(victim)
		require.NoError(t, err)
		defer in.Close()
		run(t, job{UID: uid, Root: root, Command: []string{insideProbe, "probe", "reopen-stdin"}}, in)
		data, err := os.ReadFile(victim)
		require.NoError(t, err)
		assert.Equal(t, "SECRET\n", string(data))
		code, text := outside(t, uid, in, "reopen-stdin")
		assert.Zero(t, code, text)
		data, err = os.ReadFile(victim)
		require.NoError(t, err)
		assert.Contains(t, string(data), "OVERWRITTEN", "unguarded it is overwritten")
	})
}

// No descriptor of the host is inherited.
func TestOnlyStandardDescriptors(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		got := run(t, job{UID: uid, Root: root, Leak: true, Command: []string{"ls", "/proc/self/fd"}}, nil)
		assert.Equal(t, "0\n1\n2\n3\n", got.out, "3 is the directory that ls reads; 77 was left open outside")
	})
}
