package launcher

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// deviceKind is a kind of device that a command may be given.
type deviceKind struct {
	glob   string // of its path, for path.Match
	majors []uint32
	minor  int64 // -1: any
}

// deviceKinds are what Config.Devices may name: what is used by many programs at once,
// and reaches neither the machine's memory nor its disks. Majors are those of
// Documentation/admin-guide/devices.txt of Linux; nil stands for those that the kernel
// gives out by itself.
var deviceKinds = []deviceKind{
	{"/dev/dri/renderD*", []uint32{226}, -1},
	{"/dev/dri/card*", []uint32{226}, -1},
	{"/dev/nvidia*", []uint32{195}, -1},
	{"/dev/nvidia-uvm*", nil, -1},
	{"/dev/nvidia-caps/*", nil, -1},
	{"/dev/kfd", nil, -1},
	{"/dev/accel/accel*", []uint32{261}, -1},
	{"/dev/kvm", []uint32{10}, 232},
	{"/dev/snd/*", []uint32{116}, -1},
	{"/dev/video*", []uint32{81}, -1},
	{"/dev/ttyUSB*", []uint32{188}, -1},
	{"/dev/ttyACM*", []uint32{166}, -1},
}

// devicesAllowed is the list in words.
const devicesAllowed = "/dev/dri/*, /dev/nvidia*, /dev/kfd, /dev/accel/*, /dev/kvm, /dev/snd/*, /dev/video*, /dev/ttyUSB* and /dev/ttyACM*"

// dynamicMajor reports whether the kernel gives a major number out by itself.
func dynamicMajor(major uint32) bool {
	return 234 <= major && major <= 254 || 384 <= major && major <= 511
}

// refusedDevices say why a device is not shown, by the beginning of its path.
var refusedDevices = []struct{ prefix, why string }{
	{"/dev/mem", "it is the machine's memory"},
	{"/dev/kmem", "it is the machine's memory"},
	{"/dev/port", "it is the machine's hardware"},
	{"/dev/kmsg", "it is the kernel's log"},
	{"/dev/input", "it hears every key that you type"},
	{"/dev/hidraw", "it hears every key that you type"},
	{"/dev/uinput", "it types for you into any program"},
	{"/dev/tty", "what runs inside has a terminal of its own, and could type into this one"},
	{"/dev/console", "what runs inside has a terminal of its own, and could type into this one"},
	{"/dev/pts", "what runs inside has a terminal of its own, and could type into this one"},
	{"/dev/vcs", "it shows what stands on your terminals"},
	{"/dev/net/tun", "it makes networks; --net and --allow-host say what a run reaches"},
	{"/dev/vhost", "it reaches the machine's networks"},
	{"/dev/fuse", "it makes file systems; --nested is for that"},
	{"/dev/vfio", "it gives hardware away, with access to all memory"},
	{"/dev/bus/usb", "it takes any device from its driver, keyboards and disks among them"},
	{"/dev/loop", "it makes disks of files, and file systems of disks"},
	{"/dev/mapper", "it is a disk, or makes some"},
}

// judgeDevice decides about a device of the host: where it lies, without links, whether
// it is a character device, and its number. What is not known is refused.
func judgeDevice(at string, character bool, major, minor uint32) error {
	if !character {
		return fmt.Errorf("%q is no character device: a disk is all that is on it, whoever may read it", at)
	}
	for _, k := range deviceKinds {
		if ok, err := path.Match(k.glob, at); err != nil || !ok {
			continue
		}
		numbered := slices.Contains(k.majors, major) || k.majors == nil && dynamicMajor(major)
		if numbered && (k.minor < 0 || k.minor == int64(minor)) {
			return nil
		}
	}
	for _, r := range refusedDevices {
		if strings.HasPrefix(at, r.prefix) {
			return fmt.Errorf("%q (%d:%d) is not shown: %s", at, major, minor, r.why)
		}
	}
	return fmt.Errorf("%q (%d:%d) is not on the list of what is shown: %s, with the numbers that those have", at, major, minor, devicesAllowed)
}
