package launcher

import (
	"path"
	"strings"
)

// processors is what the kernel says of them: lscpu and runtimes that count processors
// read it. It says no more than /proc/cpuinfo and /proc/stat, but some of it can be
// written by root, so it is shown on a mount that cannot be.
const processors = "/sys/devices/system/cpu"

// machinePlaces are, beside the system directories, what programs ask of the machine:
// its processors, and which packages are installed. Each is one subtree or file that
// everybody may read. Nothing else of /sys is shown: there are the kernel's debugging
// and tracing, the devices, and the control groups.
var machinePlaces = []string{processors, "/var/lib/dpkg/info", "/var/lib/dpkg/status"}

// machine shows them. Where one cannot be had, as in some containers, the command goes
// without. In a tree that --ro or --home shows it is there already.
func (b *builder) machine() {
	for _, p := range b.host.Machine {
		b.item(p, func() {
			if _, shown := b.shown(p); shown {
				return
			}
			b.mountpoint(path.Dir(p))
			// Root owns what only root may read. In /sys ids cannot be mapped away.
			asOther := b.plan.ID.UID == 0 && !beneath(p, processors)
			b.add(planStep{Do: doBind, Path: p, From: p, Other: asOther, NoExec: true, Maybe: true})
			for _, private := range b.host.MachinePrivate {
				if beneath(private, p) {
					b.add(planStep{Do: doMask, Path: private})
				}
			}
		})
	}
}

// likeFirst reports whether a name in processors is the directory of a processor other
// than the first one.
func likeFirst(name string) bool {
	number, ok := strings.CutPrefix(name, "cpu")
	return ok && number != "" && number != "0" && strings.Trim(number, "0123456789") == ""
}
