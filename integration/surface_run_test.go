package integration

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/ops"
)

// runSurface is the inside of `pinfold run`, the program as it is shipped.
// Its walker mode is what it does of itself where the system has no openat2:
// it is started under a filter that answers ENOSYS.
type runSurface struct {
	name string
	uid  int
}

func (r runSurface) Name() string { return r.name }
func (r runSurface) UID() int     { return r.uid }
func (r runSurface) InView() bool { return true }

func (r runSurface) Start(t *testing.T, s *site, policy []string, mode string) (ops.Executor, error) {
	p := start(t, pinfoldRun(s, r.uid, mode, programFlags(t, policy), insiderPath, "serve"), os.Geteuid())
	client := newActor(p)
	if res := client.Do(do1("lstat", ".")); !res.OK() {
		require.True(t, p.wait(opLimit), "it neither works nor ends")
		return nil, &startError{status: p.cmd.ProcessState.ExitCode(), text: p.stderr.String()}
	}
	return client, nil
}

func (r runSurface) Unguarded(t *testing.T, s *site) ops.Executor { return bare(t, s) }

// pinfoldRun is `pinfold run` over s as uid, to be started as ourselves.
func pinfoldRun(s *site, uid int, mode string, policy []string, command ...string) *exec.Cmd {
	root := s.root
	var flags []string
	for i := 0; i < len(policy); i++ {
		if policy[i] == "-C" {
			i++
			root += "/" + policy[i]
			continue
		}
		flags = append(flags, policy[i])
	}
	args := append([]string{pinfold, "run", "-C", root, "--ro", bin}, flags...)
	return asUser(uid, mode, append(append(args, "--"), command...)...)
}
