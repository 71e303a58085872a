package integration

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"
)

// These end with an error where they got nothing.
var kernelAttacks = map[string]func(){
	"userns": func() { must(exec.Command("unshare", "-U", "true").Run()) },
	"netlink": func() {
		_, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER)
		must(err)
	},
	"dump": func() {
		var limit unix.Rlimit
		must(unix.Getrlimit(unix.RLIMIT_CORE, &limit))
		limit.Cur = limit.Max
		must(unix.Setrlimit(unix.RLIMIT_CORE, &limit))
		cmd := exec.Command("sh", "-c", "kill -SEGV $$")
		_ = cmd.Run()
		if s, ok := cmd.ProcessState.Sys().(interface{ CoreDump() bool }); !ok || !s.CoreDump() {
			must(errors.New("no dump"))
		}
	},
	"fill": func() { must(os.WriteFile("/dev/shm/filled", make([]byte, 9<<20), 0o600)) },
}

// What the kernel offers to everybody is kept to what programs need.
func TestAttackKernel(t *testing.T) {
	for _, s := range surfaces {
		run, ok := s.(runSurface)
		if !ok {
			continue
		}
		t.Run(run.name, func(t *testing.T) {
			s := newSite(t, run.uid, true)
			s.own()
			try := func(attack string) {
				t.Helper()
				cmd := asUser(run.uid, modes[0], insiderPath, "attack", attack)
				cmd.Dir = s.root
				out, err := cmd.CombinedOutput()
				assert.NoError(t, err, "%s without the guard: %s", attack, out)
				out, err = pinfoldRun(s, run.uid, modes[0], []string{"-w", ".", "--tmp-size", "8M"}, insiderPath, "attack", attack).CombinedOutput()
				var exit *exec.ExitError
				assert.True(t, errors.As(err, &exit) && exit.ExitCode() == 1, "%s inside: %v, %s", attack, err, out)
			}
			try("userns")
			tableRow(t, "userns", run.name)
			try("netlink")
			tableRow(t, "netlink", run.name)
			try("dump")
			tableRow(t, "dump", run.name)
			try("fill")
			tableRow(t, "fill", run.name)
			assert.NoError(t, os.Remove("/dev/shm/filled"))
		})
	}
}
