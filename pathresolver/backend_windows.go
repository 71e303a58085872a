package pathresolver

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// identifyFile describes an open file.
func identifyFile(f *os.File) (resolved.FileID, error) {
	var info windows.ByHandleFileInformation
	err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info)
	return resolved.FileID{
		Dev:   uint64(info.VolumeSerialNumber),
		Ino:   uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
		Links: info.NumberOfLinks,
	}, err
}

// commits stands in for the lock of a directory, within this process.
var commits sync.Mutex

func tryLock(handle) error {
	if !commits.TryLock() {
		return syscall.EWOULDBLOCK
	}
	return nil
}

func unlock(handle) { commits.Unlock() }

// copyAttributes gives to the mode of from.
func copyAttributes(from, to handle) error {
	info, err := from.file.Stat()
	if err != nil {
		return errno(err)
	}
	return errno(to.file.Chmod(info.Mode().Perm()))
}
