package sandboxfs

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// fileCapabilities are those that concern files and their permissions: the set
// that setfsuid(2) takes from a thread that leaves uid 0 (capabilities(7)). The kernel
// splits the set of all capabilities into two words.
var fileCapabilities = [2]uint32{
	1<<unix.CAP_CHOWN | 1<<unix.CAP_MKNOD | 1<<unix.CAP_DAC_OVERRIDE |
		1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID | 1<<unix.CAP_LINUX_IMMUTABLE,
	1 << (unix.CAP_MAC_OVERRIDE - 32),
}

// rights are those of one thread that an unprivileged view gives up.
type rights struct {
	groups []int // besides the one that files get
	caps   [2]unix.CapUserData
}

// threadRights returns those of the calling thread, which is locked.
func threadRights() (had rights, err error) {
	if had.groups, err = unix.Getgroups(); err != nil {
		return had, fmt.Errorf("ask for groups: %w", err)
	}
	if err = unix.Capget(capHeader(), &had.caps[0]); err != nil {
		return had, fmt.Errorf("ask for capabilities: %w", err)
	}
	return had, nil
}

// giveUp leaves the calling thread neither groups nor fileCapabilities. After
// an error it may have given up some. (syscall.Setgroups, unlike unix.Setgroups,
// is for all threads of the process.)
func (had rights) giveUp() error {
	fewer := had.caps
	for i := range fewer {
		fewer[i].Effective &^= fileCapabilities[i]
	}
	if len(had.groups) > 0 {
		err := unix.Setgroups(nil)
		if err != nil && (err != unix.EPERM || !groupsStay()) {
			return fmt.Errorf("give up groups: %w", err)
		}
	}
	if err := unix.Capset(capHeader(), &fewer[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}

// giveBack undoes giveUp.
func (had rights) giveBack() error {
	if len(had.groups) > 0 {
		if err := unix.Setgroups(had.groups); err != nil {
			return err
		}
	}
	return unix.Capset(capHeader(), &had.caps[0])
}

func capHeader() *unix.CapUserHeader {
	return &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
}

// groupsStay reports whether groups cannot be given up in this user namespace
// (user_namespaces(7)). The programs in the view have them then, too.
func groupsStay() bool {
	may, err := os.ReadFile("/proc/self/setgroups")
	return err == nil && string(bytes.TrimSpace(may)) == "deny"
}

// tryWithoutRights reports why withoutRights could not do its work: a filter of
// system calls (seccomp(2)) may forbid it.
func tryWithoutRights() error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		had, err := threadRights()
		if err == nil {
			err = had.giveUp()
		}
		if err == nil && had.giveBack() == nil {
			runtime.UnlockOSThread()
		}
		result <- err
	}()
	return <-result
}

// withoutRights runs f on a thread that has none of rights, and on no other.
// Nothing is done before they are gone.
func withoutRights(log *log.Logger, f func()) {
	runtime.LockOSThread()
	var had rights
	persist(log, func() (err error) {
		had, err = threadRights()
		return err
	})
	persist(log, had.giveUp)
	f()
	// A thread that is not unlocked ends with its goroutine.
	if had.giveBack() == nil {
		runtime.UnlockOSThread()
	}
}

// persist does what the kernel refuses only as long as it has no memory: New
// has tried it.
func persist(log *log.Logger, do func() error) {
	for err := do(); err != nil; err = do() {
		log.Print(err)
		time.Sleep(time.Millisecond)
	}
}
