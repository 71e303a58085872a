package pathresolver

import (
	"os"

	"golang.org/x/sys/windows"
)

// identify describes an open file.
func identify(f *os.File) (FileID, error) {
	var info windows.ByHandleFileInformation
	err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info)
	return FileID{
		Dev:   uint64(info.VolumeSerialNumber),
		Ino:   uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
		Links: info.NumberOfLinks,
	}, err
}
