package pathresolver

import (
	"os"

	"golang.org/x/sys/windows"
)

// identify returns what tells a file from others, and how many names it has.
func identify(f *os.File) (dev, ino uint64, links uint32, err error) {
	var info windows.ByHandleFileInformation
	err = windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info)
	return uint64(info.VolumeSerialNumber), uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow), info.NumberOfLinks, err
}
