package hostpath

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
)

// ModeRefuses looks whether this user could do op with the file at path, had the rules
// nothing against it: by owner and mode alone, without the capabilities that root has
// outside of a run. It returns what stands in the way, which is the file or its
// directory; refused is false where nothing does, or that cannot be told. It looks at
// paths, so it is for messages and decides nothing.
func ModeRefuses(op access.Op, path string) (f ModeOf, refused bool) {
	info, err := os.Lstat(path)
	mask := uint32(unix.W_OK)
	switch {
	case err == nil && op == access.OpMeta:
		f = modeOf(path, info)
		return f, f.UID != os.Geteuid()
	case err == nil && op == access.OpRead:
		mask = unix.R_OK
	case err == nil && op == access.OpWrite:
	case err == nil || errors.Is(err, fs.ErrNotExist):
		if op == access.OpRead {
			return f, false
		}
		mask |= unix.X_OK
		for path = filepath.Dir(path); ; path = filepath.Dir(path) {
			if info, err = os.Lstat(path); err == nil || path == "/" {
				break
			}
		}
	}
	if err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return f, false
	}
	return modeOf(path, info), withoutCapabilities(func() error {
		return unix.Faccessat(unix.AT_FDCWD, path, mask, unix.AT_EACCESS)
	}) == unix.EACCES
}

func modeOf(path string, info fs.FileInfo) ModeOf {
	uid, _ := Owner(path)
	return ModeOf{Path: path, UID: uid, Mode: info.Mode()}
}

// withoutCapabilities does it on a thread for which no capability counts meanwhile.
func withoutCapabilities(do func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		hdr := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var had [2]unix.CapUserData
		err := unix.Capget(hdr, &had[0])
		none := had
		none[0].Effective, none[1].Effective = 0, 0
		if err == nil {
			err = unix.Capset(hdr, &none[0])
		}
		if err == nil {
			err = do()
		}
		// A thread that is not unlocked ends with its goroutine.
		if unix.Capset(hdr, &had[0]) == nil {
			runtime.UnlockOSThread()
		}
		result <- err
	}()
	return <-result
}
