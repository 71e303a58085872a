package launcher

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"math"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The program starts itself again under these names. They are told apart by
// argv[0], which the command inside cannot set for the supervisor's children,
// and not by the environment, which it could prepare.
const (
	setupName = "pinfold-setup"
	initName  = "pinfold-init"
)

// Descriptors that the supervisor hands to its children.
const (
	fdConfig   = 3 + iota   // a sealed memory file with a childConfig
	fdSetup                 // supervisor <-> set-up helper
	fdInit                  // supervisor <-> init
	fdStdin                 // the command's streams
	fdStdout                //
	fdStderr                //
	fdFuse                  // where the set-up helper puts each /dev/fuse it opens
	fdAttempts              // where the set-up helper tells of attempts
	fdSlave    = fdFuse     // where init puts the terminal
	fdParent   = fdAttempts // set-up helper <-> init
	fdsToInit  = fdParent + 1
)

// childConfig is all that the children know. It is not passed in argv or the
// environment, which others can read.
type childConfig struct {
	Plan   *runPlan
	Mounts [][]mountArgs // by view and mount
	// Grouped: the set-up helper waits until it is in a control group.
	Grouped bool
	// Terminal: make a pseudo-terminal for the streams in TTY.
	Terminal bool
	TTY      [3]bool
	Size     unix.Winsize
	Cooked   bool // false: the outer terminal translates output
}

type mountArgs struct {
	Source, FSType, Data string
	Flags                uintptr
}

// init takes over in the processes that Run and Probe start. A program that uses
// them cannot forget to do it, and run its own main once more instead; and the
// packages that only that main needs are not initialized first, which is about a tenth
// of the time that `pinfold run` takes to start.
func init() {
	if len(os.Args) > 0 && (os.Args[0] == setupName || os.Args[0] == initName || os.Args[0] == trialName || os.Args[0] == keeperName) {
		os.Exit(childMain())
	}
}

// childMain is the whole life of a child; it returns its exit code.
func childMain() int {
	// The parent-death signal and the file system rights are a thread's.
	runtime.LockOSThread()
	nameProcess()
	if os.Args[0] == trialName {
		return trialMain()
	}
	if os.Args[0] == keeperName {
		return keeperMain()
	}
	cfg, err := readConfig()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v (pinfold starts this by itself)\n", os.Args[0], err)
		return ExitSetup
	}
	if os.Args[0] == setupName {
		return setupMain(cfg)
	}
	return initMain(cfg)
}

// nameProcess gives a child the name that ps and top show, which would be "exe".
func nameProcess() {
	if name, err := unix.BytePtrFromString(os.Args[0]); err == nil {
		_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(name)), 0, 0, 0) // for the eye
	}
}

func readConfig() (*childConfig, error) {
	// Nothing that the caller's parents left open may pass to the command.
	if err := unix.CloseRange(fdConfig, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, fmt.Errorf("close_range: %w", err)
	}
	var cfg childConfig
	return &cfg, readSealed(fdConfig, &cfg)
}

// maxSealed bounds what is read of a sealed file, in bytes: more than execve(2) takes.
const maxSealed = 16 << 20

// readSealed reads what writeSealed wrote into a value.
func readSealed(fd int, into any) error {
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&unix.F_SEAL_WRITE == 0 {
		return fmt.Errorf("no configuration on descriptor %d", fd)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Size > maxSealed {
		return unix.E2BIG
	}
	data := make([]byte, st.Size)
	if _, err := unix.Pread(fd, data, 0); err != nil {
		return err
	}
	return gob.NewDecoder(bytes.NewReader(data)).Decode(into)
}

// writeSealed makes a memory file with a value, which nobody can change any more.
func writeSealed(value any) (*os.File, error) {
	fd, err := unix.MemfdCreate("pinfold", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "config")
	// gob keeps every byte of a string, JSON only those of UTF-8.
	if err = gob.NewEncoder(f).Encode(value); err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
