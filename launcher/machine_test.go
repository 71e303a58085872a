//go:build linux

package launcher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the kernel says of the processors can be read inside, by lscpu for one. Some of it
// turns processors off: nobody inside writes it, root neither, and nothing else of /sys
// is there.
func TestProcessors(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		inside := func(script string) string {
			got := run(t, job{UID: uid, Root: root, Command: []string{"sh", "-c", script}}, nil)
			require.Empty(t, got.errOut, script)
			return got.out
		}
		possible, err := os.ReadFile(processors + "/possible")
		require.NoError(t, err)
		assert.Equal(t, string(possible), inside("cat "+processors+"/possible"))
		assert.Equal(t, "/sys:\ndevices\n\n/sys/devices:\nsystem\n\n/sys/devices/system:\ncpu\n", inside("ls /sys /sys/devices /sys/devices/system"))
		assert.NotContains(t, inside("ls -d /var/lib/*"), "/var/lib/apt")

		// Opening alone changes nothing, so outside root may be asked the same.
		writable := strings.Fields(inside("find " + processors + " -type f -perm /222"))
		require.NotEmpty(t, writable)
		opened := inside("cd " + processors + " && for f in $(find . -type f -perm /222); do if (: >> $f) 2>/dev/null; then echo opened $f; fi; done" +
			"; mv cpu0 cpu 2>/dev/null || rmdir power 2>/dev/null || chmod 644 uevent 2>/dev/null || touch new 2>/dev/null || echo nothing")
		assert.Equal(t, "nothing\n", opened)
		f, err := os.OpenFile(processors+"/uevent", os.O_WRONLY, 0)
		if os.Getuid() == 0 {
			require.NoError(t, err, "outside root opens it")
			f.Close()
		}
		for line := range strings.Lines(inside("cat /proc/self/mountinfo")) {
			if fields := strings.Fields(line); strings.HasPrefix(fields[4], "/sys") {
				assert.Equal(t, processors, fields[4])
				for _, want := range []string{"ro", "nosuid", "nodev", "noexec"} {
					assert.Contains(t, strings.Split(fields[5], ","), want)
				}
			}
		}
	})
}

// Which packages are installed can be read, and not changed.
func TestPackages(t *testing.T) {
	const status = "/var/lib/dpkg/status"
	data, err := os.ReadFile(status)
	if err != nil {
		return // another kind of system
	}
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		got := run(t, job{UID: uid, Root: root, Command: []string{"sh", "-c", "cat " + status + "; ls /var/lib/dpkg; " +
			"for f in status info/new ../new; do if (: >> /var/lib/dpkg/$f) 2>/dev/null; then echo opened $f; fi; done"}}, nil)
		assert.Equal(t, string(data)+"info\nstatus\n", got.out)
		assert.Empty(t, got.errOut)
	})
}

// For root what is not for everybody is found in the directory of each processor, though
// only one is looked into.
func TestProcessorsPrivate(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{
		"possible": 0o444, "microcode/reload": 0o200, "cpufreq/policy0/cpuinfo_cur_freq": 0o400,
		"cpu0/crash_notes": 0o400, "cpu0/topology/core_id": 0o444, "cpu1/crash_notes": 0o400, "cpu1/topology/core_id": 0o444, "cpu12/crash_notes": 0o400,
	} {
		p := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, nil, 0o600))
		require.NoError(t, os.Chmod(p, mode))
	}
	private, few := processorsPrivate(dir)
	assert.True(t, few)
	var want []string
	for _, p := range []string{"cpu0/crash_notes", "cpu1/crash_notes", "cpu12/crash_notes", "cpufreq/policy0/cpuinfo_cur_freq", "microcode/reload"} {
		want = append(want, filepath.Join(dir, p))
	}
	assert.ElementsMatch(t, want, private)
	for i := range maxProcessorMasks {
		require.NoError(t, os.Mkdir(filepath.Join(dir, "cpu1"+strings.Repeat("1", 1+i%9)+strings.Repeat("0", i/9)), 0o755))
	}
	_, few = processorsPrivate(dir)
	assert.False(t, few, "then nothing is shown")
}
