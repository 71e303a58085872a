package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/live"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// unconfined runs the command without a view and with the caller's own rights, to find
// out whether a failure is pinfold's. Only the operator can ask for that, by a flag:
// neither the environment nor a policy does, and inside a run it is refused. The
// policy that the flags name is read and recorded but not enforced. The command takes
// the place of this process, so that streams, signals and the exit code are its own.
// An error means that it did not run.
func (f *runFlags) unconfined(a *cli.App, command []string) error {
	if inside.Run() {
		return cli.UsageError(errors.New("--no-sandbox is the operator's, and this is inside 'pinfold run'"), "leave it out")
	}
	if f.user != "" || f.home != "" || f.reach.net == netNone || f.reach.net == netAllow || len(f.reach.afterRead) > 0 || f.failOnDeny || len(f.failOnLeft.Kinds) > 0 || f.limits.bounds() {
		return cli.UsageError(errors.New("--user, --home, --net none and allow, --after-read, --fail-on-deny, --fail-on-left, --time, --pids, --memory and --cpu need the sandbox that --no-sandbox leaves out"), "")
	}
	if f.secrets.given() || len(f.sockets.given)+len(f.devices) > 0 {
		return cli.UsageError(errors.New("--secret, --secret-file, --socket and --device need the sandbox that --no-sandbox leaves out"), "the command has all of your files without it")
	}
	told, err := f.notHeld(command[0])
	if err != nil {
		return err
	}
	if err := f.record(told, command); err != nil {
		return err
	}
	if told.Policy != "" {
		a.Out.Warning(fmt.Sprintf("no sandbox: policy '%s' (%s) is not held, and the command has all of your rights", told.Policy, cli.ShortHash(told.Hash)))
	} else {
		a.Out.Warning("no sandbox: the command has all of your rights")
	}
	dir, err := filepath.Abs(f.Root)
	if err != nil {
		return err
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	program, err := exec.LookPath(command[0])
	if err == nil {
		err = syscall.Exec(program, command, f.ownEnv(dir))
	}
	a.Out.Error(fmt.Sprintf("%q: %v", command[0], err))
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return cli.Silent(cli.ExitNotFound)
	}
	return cli.Silent(cli.ExitNotExec)
}

// ownEnv is this process's environment with what --env sets.
func (f *runFlags) ownEnv(dir string) []string {
	cmd := exec.Cmd{Dir: dir, Env: os.Environ()}
	for _, kv := range f.env {
		if strings.Contains(kv, "=") { // the others are passed on in any case
			cmd.Env = append(cmd.Env, kv)
		}
	}
	return cmd.Environ()
}

// notHeld describes the launch: which policy is set aside, if one is named.
func (f *runFlags) notHeld(program string) (launched, error) {
	told := launched{Program: pathresolver.EscapePath(program)}
	if given, err := f.Named.Given(); !given {
		return told, err
	}
	policy, _, err := f.Named.Load(f.Root, policyflag.CallerOf(pathresolver.Config{WritePaths: f.WritePaths, Git: f.Git, Hide: f.Hide, Mask: f.Mask, Protect: f.Protect}))
	if err != nil {
		return told, err
	}
	told.Policy, told.Hash = policy.Name(), policy.Hash()
	return told, nil
}

// record writes the launch to what 'pinfold logs' shows of the latest runs, and to the
// report. No place is safe from a command that nothing confines, so that any will do. The
// run counts as ended: this process becomes the command, and nothing can be asked of it. A
// launch that cannot be recorded is none.
func (f *runFlags) record(told launched, command []string) error {
	run, err := live.Begin(live.Record{Name: f.name, Root: cli.PathText(f.Root), Command: cli.CommandText(command), App: f.app})
	if err != nil {
		return fmt.Errorf("--no-sandbox is recorded, and that failed: %w", err)
	}
	if run == nil && f.report == "" {
		return cli.UsageError(errors.New("--no-sandbox is recorded, and no state can be kept here"), "--report FILE records it as well")
	}
	if run != nil {
		w := &reportFile{f: run.Log}
		w.append(launchLine{cli.TimeText(time.Now()), told})
		if w.err != nil {
			run.Close()
			return w.err
		}
		run.End(0, "")
	}
	if f.report == "" {
		return nil
	}
	file, err := hostfile.Open("--report", f.report, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	w := &reportFile{f: file}
	w.append(launchLine{cli.TimeText(time.Now()), told})
	return w.close()
}
