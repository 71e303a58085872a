package launcher

import (
	"os"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/cgroup"
)

// namespaceFlags are clone(2)'s, by the names of /proc/self/ns.
var namespaceFlags = map[string]uintptr{
	"user": unix.CLONE_NEWUSER, "mnt": unix.CLONE_NEWNS, "ipc": unix.CLONE_NEWIPC,
	"uts": unix.CLONE_NEWUTS, "net": unix.CLONE_NEWNET,
}

// spawn starts the set-up helper. The caller closes the descriptors that it returns,
// which are the children's ends.
func (s *session) spawn() (theirs []int, err error) {
	var setup, init int
	if s.setup, setup, err = channelPair(); err != nil {
		return nil, err
	}
	theirs = append(theirs, setup)
	if s.init, init, err = channelPair(); err != nil {
		return theirs, err
	}
	theirs = append(theirs, init)
	config, err := writeSealed(s.childConfig())
	if err != nil {
		return theirs, err
	}
	defer config.Close()

	files := make([]uintptr, fdAttempts+1)
	for i := range files {
		files[i] = s.std.null.Fd()
	}
	files[fdConfig], files[fdSetup], files[fdInit] = config.Fd(), uintptr(setup), uintptr(init)
	if s.plan.Watch {
		attempts, told, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		defer told.Close()
		files[fdAttempts] = told.Fd()
		s.attempts = attempts
	}
	for i, f := range s.std.child {
		if f != nil {
			files[fdStdin+i] = f.Fd()
		}
	}
	attr := &syscall.ProcAttr{
		Env:   childEnv,
		Files: files,
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	for _, n := range s.plan.Namespaces {
		attr.Sys.Cloneflags |= namespaceFlags[n]
	}
	if slices.Contains(s.plan.Namespaces, "user") {
		inUserNamespaceOfOwn(attr.Sys)
	}
	if err := s.launch(attr); err != nil {
		return theirs, err
	}
	if err := s.enterGroup(); err != nil {
		s.kill()
		<-s.gone
		return theirs, err
	}
	return theirs, nil
}

// inUserNamespaceOfOwn keeps the caller's own uid and gid, and the rights over
// the new namespaces beyond exec, which drops them unless they are ambient.
func inUserNamespaceOfOwn(attr *syscall.SysProcAttr) {
	uid, gid := os.Geteuid(), os.Getegid()
	attr.Cloneflags |= unix.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	attr.AmbientCaps = allCapabilities()
}

// launch starts the set-up helper from a thread that lives as long as the set-up helper:
// the parent-death signal comes when the thread ends, not the process.
func (s *session) launch(attr *syscall.ProcAttr) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		pid, err := syscall.ForkExec("/proc/self/exe", []string{setupName}, attr)
		s.pid = pid
		started <- err
		if err == nil {
			s.waitSetup()
			close(s.gone)
		}
		// The thread ends with the goroutine, which leaves it locked.
	}()
	return <-started
}

// waitSetup waits without reaping first, so that kill never meets a process
// that has got the set-up helper's number after it.
func (s *session) waitSetup() {
	for unix.Waitid(unix.P_PID, s.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reaped = true
	for {
		if _, err := unix.Wait4(s.pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}

// kill ends everything inside: init dies with the set-up helper.
func (s *session) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.reaped {
		_ = unix.Kill(s.pid, unix.SIGKILL)
	}
}

func (s *session) childConfig() *childConfig {
	cfg := &childConfig{Plan: s.plan, Grouped: s.config.groupLimits() != cgroup.Limits{}}
	for _, v := range s.config.views() {
		var mounts []mountArgs
		for i := range v.View.Mounts() {
			var m mountArgs
			m.Source, m.FSType, m.Flags, m.Data = v.View.MountArgs(i, fdFuse)
			mounts = append(mounts, m)
		}
		cfg.Mounts = append(cfg.Mounts, mounts)
	}
	if t := s.std.terminal(); t != nil {
		cfg.Terminal = true
		cfg.Cooked = !s.std.interactive()
		if size, err := unix.IoctlGetWinsize(int(t.Fd()), unix.TIOCGWINSZ); err == nil {
			cfg.Size = *size
		}
		for i, k := range s.std.kinds {
			cfg.TTY[i] = k == kindTerminal
		}
	}
	return cfg
}

// allCapabilities are those that a new user namespace gives, as far as this
// kernel knows them.
func allCapabilities() []uintptr {
	var caps []uintptr
	for c := uintptr(0); c < 64; c++ {
		if _, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0); err != nil {
			break
		}
		caps = append(caps, c)
	}
	return caps
}

func spawnHint(err error) string {
	switch err {
	case unix.EPERM, unix.EACCES:
		return "ordinary users may not make user namespaces here; \"pinfold doctor\" says what forbids it"
	case unix.ENOSPC, unix.EUSERS:
		return "raise /proc/sys/user/max_user_namespaces and its neighbours"
	}
	return ""
}
