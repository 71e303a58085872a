package launcher

import (
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/cgroup"
	"github.com/pinfold-dev/pinfold/internal/confine"
	"github.com/pinfold-dev/pinfold/internal/helper"
)

// Probe looks at what works here, mostly by trying it in a child process, and
// says how to fix what does not. It changes nothing.
func Probe() []Finding {
	tried := tryNamespaces()
	findings := []Finding{probeFuse(tried), probeNamespaces(tried), probeMounts(tried), probeProc(tried)}
	findings = append(findings, probeAppArmor()...)
	return append(findings, probePassthrough(), probeLandlock(), probeServing(), probeTasks(tried), probeGroup(), probeTemporary(), probeCoreDumps(), probeSeccomp(), probeWatch(), probeOpenat2(), probeTun(), probeFusermount())
}

func yes(name, detail, means string, required bool) Finding {
	return Finding{Name: name, OK: true, Required: required, Detail: detail, Means: means}
}

func no(name string, detail any, means, fix string, required bool) Finding {
	return Finding{Name: name, Required: required, Detail: fmt.Sprint(detail), Means: means, Fix: fix}
}

// paste adds the line that does what Fix says.
func (f Finding) paste(line string) Finding {
	f.Paste = line
	return f
}

// containerFlags are what docker run and podman run want to be given.
const (
	deviceFlag  = "--device /dev/fuse"
	seccompFlag = "--security-opt seccomp=unconfined"
	procFlag    = "--security-opt systempaths=unconfined"
)

// container reports whether this looks like a container of Docker's or Podman's.
func container() bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Lstat(mark); err == nil {
			return true
		}
	}
	return os.Getenv("container") != ""
}

func probeFuse(t trial) Finding {
	const name, means = "fuse", "the view is a FUSE file system; run and mount need it"
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		fix, line := fuseFix(err)
		return no(name, fmt.Errorf("open /dev/fuse: %w", err), means, fix, true).paste(line)
	}
	unix.Close(fd)
	if t.Spawn == "" && t.Fuse != "" {
		return no(name, "mounting: "+t.Fuse, means, "use Linux 4.18 or later, where FUSE can be mounted in a user namespace", true)
	}
	return yes(name, "/dev/fuse can be opened and mounted", means, true)
}

func probeNamespaces(t trial) Finding {
	const name = "namespaces"
	means := "run makes user, mount, pid, ipc and uts namespaces"
	if privileged() {
		means = "run, as root, makes mount, pid, ipc and uts namespaces"
	}
	if t.Spawn != "" {
		fix, line := namespaceFix()
		return no(name, t.Spawn, means, fix, true).paste(line)
	}
	return yes(name, "can be made", means, true)
}

func namespaceFix() (fix, paste string) {
	switch {
	case !procMounted():
		return "see proc", ""
	case chrooted():
		return "see mounts", ""
	case sysctl("user/max_user_namespaces") == "0":
		return "allow user namespaces", "sudo sysctl -w user.max_user_namespaces=15000"
	case sysctl("kernel/unprivileged_userns_clone") == "0":
		return "allow ordinary users to make user namespaces", "sudo sysctl -w kernel.unprivileged_userns_clone=1"
	}
	return "in a container, allow the clone and unshare system calls: flags of docker run and podman run", seccompFlag
}

func probeMounts(t trial) Finding {
	const name, means = "mounts", "run builds a file system of its own with open_tree(2), mount_setattr(2) and move_mount(2)"
	switch {
	case chrooted():
		return no(name, "this is a chroot, whose root is no mount", means, "enter the directory DIR by other means than chroot", true).
			paste("sudo systemd-nspawn --bind /dev/fuse -D DIR")
	case t.Spawn != "":
		return no(name, "not tried without namespaces", means, "see namespaces", true)
	case t.Mount != "":
		return no(name, t.Mount, means, "use Linux 5.12 or later; where AppArmor restricts user namespaces see apparmor; in a container allow these calls: flags of docker run and podman run", true).paste(seccompFlag)
	}
	return yes(name, "work", means, true)
}

func probeProc(t trial) Finding {
	const name, means = "proc", "run mounts /proc for the processes inside"
	switch {
	case !procMounted():
		return no(name, "/proc is not mounted", means, "mount it", true).paste("sudo mount -t proc proc /proc")
	case t.Spawn != "":
		return no(name, "not tried without namespaces", means, "see namespaces", true)
	case t.Proc != "":
		return no(name, t.Proc, means, "containers mask parts of /proc: flags of docker run and podman run", true).paste(procFlag)
	}
	return yes(name, "can be mounted", means, true)
}

func procMounted() bool {
	_, err := os.Lstat("/proc/self")
	return err == nil
}

// chrooted reports whether this process's root is no mount, as after chroot(2) into a
// directory.
func chrooted() bool {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] == "/" {
			return false
		}
	}
	return true
}

// probeAppArmor is silent where the kernel has no such restriction.
func probeAppArmor() []Finding {
	const name, means = "apparmor", "Ubuntu lets only programs with an AppArmor profile use user namespaces fully"
	switch v := sysctl("kernel/apparmor_restrict_unprivileged_userns"); {
	case v == "":
		return nil
	case v == "0" || privileged():
		return []Finding{yes(name, "no restriction applies", means, false)}
	}
	self, _ := os.Readlink("/proc/self/exe")
	return []Finding{no(name, "kernel.apparmor_restrict_unprivileged_userns is 1", means, "load a profile for pinfold, as its packages do", false).
		paste(fmt.Sprintf(`echo 'abi <abi/4.0>, profile pinfold %s flags=(unconfined) { userns, }' | sudo tee /etc/apparmor.d/pinfold && sudo apparmor_parser -r /etc/apparmor.d/pinfold`, self))}
}

func probePassthrough() Finding {
	const name, means = "passthrough", "in write paths the kernel reads and writes files itself; without it data goes through pinfold, which is slower"
	const fix = "run as root on Linux 6.9 or later; everything works without"
	if os.Geteuid() != 0 || !initialUserNamespace() {
		return no(name, "needs root in the initial user namespace", means, fix, false)
	}
	if major, minor := kernelVersion(); major < 6 || major == 6 && minor < 9 {
		return no(name, fmt.Sprintf("Linux %d.%d is older than 6.9", major, minor), means, fix, false)
	}
	return yes(name, "root, and the kernel has it", means, false)
}

func probeLandlock() Finding {
	const name, means = "landlock", "the second line of defence, behind the mounts"
	const fix = "use Linux 6.12 or later with \"landlock\" in the lsm= list of the kernel's command line"
	abi := confine.ABI()
	if lost := lostWithout(abi); len(lost) > 0 {
		return no(name, fmt.Sprintf("version %d: %s", abi, strings.Join(lost, "; ")), means, fix, false)
	}
	saw := fmt.Sprintf("version %d", abi)
	if !SocketsRefused() {
		// A read-only mount does not keep anybody from connecting to a socket.
		saw += "; before version 9, unix sockets beneath --ro and --home can be connected to"
	}
	return yes(name, saw, means, false)
}

func probeServing() Finding {
	const name, means = "serving", "the process that serves a run's view gives up its rights to all but the project"
	if wrong := tryServing(); wrong != "" {
		return no(name, "it keeps them: "+wrong, means, "see landlock; version 2 (Linux 5.19) is the least", false)
	}
	return yes(name, fmt.Sprintf("it confines itself, by Landlock version %d", confine.ABI()), means, false)
}

func probeTasks(t trial) Finding {
	const name, means = "tasks", "how many processes and threads a run may have (--pids)"
	switch {
	case t.Spawn != "":
		return no(name, "not tried without namespaces", means, "see namespaces", false)
	case t.Tasks != "":
		return no(name, "not bounded: "+t.Tasks, means, "use Linux 6.14 or later; --pids N works where control group says ok", false)
	}
	return yes(name, fmt.Sprintf("at most %d", tasks()), means, false)
}

func probeGroup() Finding {
	const name, means = "control group", "how much memory and processor time a run may have (--memory, --cpu)"
	where, err := cgroup.Look(context.Background(), cgroup.Limits{Memory: 1, CPU: 1})
	if err != nil {
		return no(name, err, means, "--memory and --cpu are refused; everything else works. Start pinfold in a group of its own", false).paste(groupFix())
	}
	return yes(name, where, means, false)
}

func probeTemporary() Finding {
	h := hostFacts{Memory: memory()}
	mib := func(part int64) int64 { return tmpSize(Config{}, h, part) >> 20 }
	return yes("temporary files", fmt.Sprintf("at most %d MiB each in /tmp and a private home, %d MiB each in /var/tmp and /dev/shm", mib(largePart), mib(smallPart)),
		"how much of the machine's memory a run's temporary file systems may fill (--tmp-size)", false)
}

func probeCoreDumps() Finding {
	return yes("core dumps", "none are written of what is inside, unless --nested", "the host's kernel would write them outside", false)
}

func probeSeccomp() Finding {
	const name, means = "seccomp", "refuses system calls that reach around the rules"
	action := uint32(unix.SECCOMP_RET_ERRNO)
	if err := actionAvailable(&action); err != nil {
		return no(name, err, means, "use a kernel with CONFIG_SECCOMP_FILTER", true)
	}
	return yes(name, "filters can be installed", means, true)
}

func probeWatch() Finding {
	const name, means = "refusals", "refused writes are told of while reading is as fast as without; otherwise the view is asked about every file"
	if !CanWatch() {
		return no(name, "cannot be watched by a seccomp listener", means,
			"use Linux 5.5 or later, outside of other runs and of containers that watch system calls, with CAP_SYS_PTRACE as root; -q or a pipe does without", false)
	}
	return yes(name, "can be watched", means, false)
}

func probeOpenat2() Finding {
	const name, means = "openat2", "one system call a look-up; without it a walk, component by component, just as safe but slower"
	fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return no(name, err, means, "use Linux 5.6 or later; in a container, a seccomp profile that knows openat2", false)
	}
	unix.Close(fd)
	return yes(name, "works", means, false)
}

func probeTun() Finding {
	const name, means = "tun", "run --net allow and --allow-host need it; without, a run has the host's network or none"
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		fix, line := tunFix(err)
		return no(name, fmt.Errorf("open /dev/net/tun: %w", err), means, fix, false).paste(line)
	}
	unix.Close(fd)
	return yes(name, "/dev/net/tun can be opened", means, false)
}

func probeFusermount() Finding {
	const name, means = "fusermount3", "pinfold mount needs it for ordinary users; run does not"
	p, err := helper.Path("fusermount3")
	switch {
	case err == nil:
		return yes(name, p, means, false)
	case os.Geteuid() == 0:
		return yes(name, "not there, and not needed by root", means, false)
	}
	return no(name, "not in "+helper.Directories[0]+" and the like; PATH is not looked at", means, "install the package fuse3", false).paste("sudo apt install fuse3")
}
