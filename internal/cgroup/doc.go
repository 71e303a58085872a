// Package cgroup puts processes into a control group that bounds what they use up. The
// group is a leaf of one that is delegated to this process already, or else of one that
// systemd makes. Only control groups of version 2 (Linux) are used.
package cgroup

// Limits are what a group bounds, and all that is in it together.
type Limits struct {
	Memory int64   // bytes, without swap; 0: not bounded
	CPU    float64 // processors; 0: not bounded
	Tasks  int     // processes and threads; 0: not bounded
}

// controllers are those of the kernel that bound l.
func (l Limits) controllers() (names []string) {
	if l.CPU > 0 {
		names = append(names, "cpu")
	}
	if l.Memory > 0 {
		names = append(names, "memory")
	}
	if l.Tasks > 0 {
		names = append(names, "pids")
	}
	return names
}
