package launcher

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Both the name and the number have to be a known device's: one that root has made under
// another name is not what it seems.
func TestJudgeDevice(t *testing.T) {
	for at, number := range map[string][2]uint32{
		"/dev/dri/renderD128": {226, 128}, "/dev/dri/card0": {226, 0}, "/dev/nvidia0": {195, 0}, "/dev/nvidiactl": {195, 255},
		"/dev/nvidia-uvm": {510, 0}, "/dev/nvidia-caps/nvidia-cap1": {237, 1}, "/dev/kfd": {240, 0}, "/dev/accel/accel0": {261, 0},
		"/dev/kvm": {10, 232}, "/dev/snd/pcmC0D0p": {116, 2}, "/dev/video0": {81, 0}, "/dev/ttyUSB0": {188, 0}, "/dev/ttyACM1": {166, 1},
	} {
		assert.NoError(t, judgeDevice(at, true, number[0], number[1]), at)
		assert.ErrorContains(t, judgeDevice(at, false, number[0], number[1]), "no character device", at)
		assert.Error(t, judgeDevice(at, true, 1, 1), "memory as %s", at)
		assert.Error(t, judgeDevice("/srv"+at, true, number[0], number[1]), at)
	}
	for at, want := range map[string]struct {
		major, minor uint32
		says         string
	}{
		"/dev/mem":            {1, 1, "memory"},
		"/dev/port":           {1, 4, "hardware"},
		"/dev/kmsg":           {1, 11, "log"},
		"/dev/input/event0":   {13, 64, "every key"},
		"/dev/uinput":         {10, 223, "types for you"},
		"/dev/tty1":           {4, 1, "type into this one"},
		"/dev/ttyS0":          {4, 64, "type into this one"},
		"/dev/pts/0":          {136, 0, "type into this one"},
		"/dev/net/tun":        {10, 200, "--allow-host"},
		"/dev/fuse":           {10, 229, "--nested"},
		"/dev/vfio/1":         {511, 0, "all memory"},
		"/dev/bus/usb/1/1":    {189, 0, "keyboards"},
		"/dev/loop-control":   {10, 237, "disks"},
		"/dev/mapper/control": {10, 236, "disk"},
		"/dev/random":         {1, 8, "not on the list"},
		"/dev/dri/other":      {226, 1, "not on the list"},
		"/dev/dri/a/card0":    {226, 0, "not on the list"},
		"/dev/kvm":            {10, 200, "not on the list"},
		"/dev/nvidia-uvm":     {13, 64, "not on the list"},
		"/dev/hidraw0":        {243, 0, "every key"},
		"/dev/kfd":            {8, 0, "not on the list"},
		"/dev/nvidia0":        {240, 0, "not on the list"},
	} {
		assert.ErrorContains(t, judgeDevice(at, true, want.major, want.minor), want.says, at)
	}
}
