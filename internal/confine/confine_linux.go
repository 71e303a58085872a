package confine

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// Kept is what a process keeps. The zero value keeps nothing but descriptors that
// are open.
type Kept struct {
	// Trees are directories beneath which it goes on to do anything but use
	// devices and connect to sockets. One that is missing is left out.
	Trees []string
	// Seen are directories beneath which it goes on to read. One that is missing
	// is left out.
	Seen []string
	// Capabilities are those that stay, of those that it has.
	Capabilities Capabilities
}

// Capabilities is a set of capabilities(7), by their numbers.
type Capabilities uint64

const (
	files = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH |
		1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID | 1<<unix.CAP_SYS_ADMIN

	// ServesFiles are what a server needs that acts on files in root's name or in the
	// name of others. Passthrough needs CAP_SYS_ADMIN (fuse-passthrough in the kernel's
	// documentation); Landlock refuses what else it is good for with files: to mount.
	ServesFiles Capabilities = files | 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
	// ChangesFiles are what root needs to replace files whoever owns them, with all of
	// their attributes: CAP_SYS_ADMIN and CAP_SETFCAP for some (xattr(7)).
	ChangesFiles Capabilities = files | 1<<unix.CAP_SETFCAP
)

const (
	everyFS = 1<<17 - 1 // up to ABI 9

	seen = ll.AccessFSReadFile | ll.AccessFSReadDir
	// Programs are executed inside a view, and where the kernel opens their files
	// for itself it asks for the server's right to do so.
	tree = everyFS &^ (ll.AccessFSIoctlDev | ll.AccessFSResolveUnix)
)

// Process has this process keep what k says and give up its other rights to
// files, abstract sockets, mounts, processes that began before, and
// capabilities. It gains none by execve(2) any more either (no_new_privs). An
// older Landlock takes less, and none nothing but capabilities: see ABI. After
// an error it may have given up some.
//
// No thread may have fewer capabilities than another at that time, unless Keep was
// called before: it would get those that stay.
func Process(k Kept) error {
	if err := Keep(k.Capabilities); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	config := landlock.MustConfig(landlock.AccessFSSet(everyFS), landlock.ScopedSet(ll.ScopeAbstractUnixSocket))
	err := config.BestEffort().Restrict(
		landlock.PathAccess(tree, k.Trees...).IgnoreIfMissing(),
		landlock.PathAccess(seen, k.Seen...).IgnoreIfMissing(),
	)
	if err != nil {
		return fmt.Errorf("set Landlock rules: %w", err)
	}
	return nil
}

// Keep has every thread of this process give up the capabilities that are not in
// keep, and those that children would inherit.
func Keep(keep Capabilities) error {
	hdr := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := &[2]unix.CapUserData{}
	if err := unix.Capget(hdr, &data[0]); err != nil {
		return err
	}
	less := false
	for i := range data {
		half := uint32(keep >> (32 * i))
		less = less || data[i].Permitted&^half|data[i].Inheritable != 0
		data[i].Permitted &= half
		data[i].Effective &= half
		data[i].Inheritable = 0
	}
	if !less {
		return nil
	}
	var pin runtime.Pinner
	pin.Pin(hdr)
	pin.Pin(data)
	defer pin.Unpin()
	if _, _, errno := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(hdr)), uintptr(unsafe.Pointer(data)), 0); errno != 0 {
		return errno
	}
	return nil
}

// ABI is the kernel's version of Landlock; 0 is none.
func ABI() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}
