package launcher

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/internal/confine"
)

// restrict gives up every right that process 1 has, so that the command,
// which this thread starts, is born without them. The order matters: each
// step needs rights that a later one gives up.
func restrict(p *runPlan) (lost []string, err error) {
	if err := dropBounding(); err != nil {
		return nil, &SetupError{Step: "empty the capability bounding set", Err: err}
	}
	if p.SetID {
		if err := setID(p.ID); err != nil {
			return nil, &SetupError{Step: "switch to the user", Err: err}
		}
	}
	if err := confine.Keep(0); err != nil {
		return nil, &SetupError{Step: "drop all capabilities", Err: err}
	}
	// A set-uid program gives nothing any more; Landlock and seccomp need it,
	// and set it on the other threads.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, &SetupError{Step: "set no_new_privs", Err: err}
	}
	// Process 1 has the command's uid: nobody may trace it or read its memory.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, &SetupError{Step: "become undumpable", Err: err}
	}
	// A change of uid clears the parent-death signal (prctl(2)).
	if err := dieWithParent(); err != nil {
		return nil, &SetupError{Step: "set the parent-death signal", Err: err}
	}
	if !p.Nested {
		if err := noCoreDumps(); err != nil {
			return nil, &SetupError{Step: "turn core dumps off", Err: err}
		}
		if lost, err = landlockProject(p); err != nil {
			return nil, &SetupError{Step: "set Landlock rules", Err: err}
		}
	}
	if err := installFilter(filter(p.Nested, p.writesHost())); err != nil {
		return nil, &SetupError{Step: "install the system call filter", Err: err,
			Fix: "the kernel needs CONFIG_SECCOMP_FILTER"}
	}
	return lost, nil
}

// dropBounding makes that no exec can bring a capability back, not even by
// uid 0. It is done for this thread alone, which starts the command: the set
// matters to exec only, and 41 calls on every thread take milliseconds. It
// ends where the kernel says EINVAL.
func dropBounding() error {
	for c := uintptr(0); c < 64; c++ {
		has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if err == unix.EINVAL {
			return nil
		}
		if err == nil && has != 0 {
			err = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setID switches user, group and supplementary groups; root's own are
// dropped too.
func setID(id userID) error {
	if err := unix.Setgroups(id.Groups); err != nil {
		return err
	}
	if id.UID == os.Geteuid() && id.GID == os.Getegid() {
		return nil
	}
	if err := unix.Setresgid(id.GID, id.GID, id.GID); err != nil {
		return err
	}
	return unix.Setresuid(id.UID, id.UID, id.UID)
}
