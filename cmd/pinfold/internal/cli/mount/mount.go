package mount

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/leftlog"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/viewhost"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

type mountFlags struct {
	policyflag.Flags
	foreground bool
	allowOther bool
	readyFD    int
}

// New is the command mount.
func New(a *cli.App) *cobra.Command {
	var f mountFlags
	cmd := &cobra.Command{
		Use:   "mount [flags] MNT",
		Short: "Mount the view of DIR at MNT",
		Long: `mount shows DIR at MNT by the rules of the policy, and returns when it stands; a
process in the background serves it until it is unmounted.

A mount confines nothing by itself: a program that uses MNT can use every other
path as well, and the kernel follows links and '..' out of MNT before the view
is asked. 'pinfold run' is what confines a program.`,
		Example: `  pinfold mount -C project -w src /mnt/project
  pinfold unmount /mnt/project`,
		Args: cli.OneArg("MNT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.foreground {
				return mount(cmd.Context(), a, &f, args[0])
			}
			return mountInBackground(a)
		},
	}
	f.AddRoot(cmd)
	f.Add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.foreground, "foreground", false, "stay, and unmount when interrupted")
	flags.BoolVar(&f.allowOther, "allow-other", false, "let other users look inside, too")
	flags.IntVar(&f.readyFD, "ready-fd", 0, "the descriptor to say on that the view stands")
	_ = flags.MarkHidden("ready-fd")
	cmd.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	return cmd
}

// mount serves the view until it is unmounted or a signal comes.
func mount(ctx context.Context, a *cli.App, f *mountFlags, mnt string) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	_, r, err := f.Resolver(nil, a.Out)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
	if err := outside(mnt, r.Root()); err != nil {
		return err
	}
	if err := notMounted(mnt); err != nil {
		return err
	}
	hostfile.Remember(a.Out, "", r)
	f.TellPolicy(a.Out)
	viewhost.BecomeServer()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }() // nothing is written
	if err := settleMount(f.readyFD); err != nil {
		return err
	}
	helper, err := startUnmounter()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, helper.close()) }()
	options, made := f.viewOptions(), viewhost.Traces{}
	options.Unmounter = helper.unmount
	made.Follow(r, &options)
	view, err := sandboxfs.New(r, options)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, view.Close())
		left := made.Left()
		saved := leftlog.Keep(a.Out, "", r, []string{"pinfold mount"}, left)
		if a.Out.Stderr.Terminal {
			leftlog.Tell(a.Out, r.Root(), left, saved)
		}
	}()
	if err := view.Mount(mnt); err != nil {
		return &cli.ExitError{Code: cli.ExitFailed, Err: err, Hint: mountHint()}
	}
	if err := confineMount(r); err != nil {
		a.Out.Warning("not guaranteed here: the process that serves the view keeps its rights: " + err.Error())
	}
	a.Out.Warning("a mount confines nothing by itself: it is for looking; 'pinfold run' confines a program")
	if f.LimitsNetwork() {
		a.Out.Warning(fmt.Sprintf("policy '%s' limits the network, and a mount does not: only 'pinfold run' and hired agents hold that", f.Held.Name()))
	}
	if f.readyFD > 0 {
		if err := detach(f.readyFD, null); err != nil {
			return err
		}
	}
	gone := make(chan struct{})
	go func() { view.Wait(); close(gone) }()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
	}
	lazily, err := view.Unmount()
	if lazily {
		a.Out.Warning(busyText(mnt))
	}
	return err
}

// mountHint is what to do about a mount that failed: the first thing that is
// found missing for it, or where to look.
func mountHint() string {
	for _, found := range launcher.Probe() {
		if !found.OK && (found.Name == "fuse" || found.Name == "fusermount3") && found.Fix != "" {
			return strings.TrimSuffix(found.Detail+": "+found.Fix+": "+found.Paste, ": ")
		}
	}
	return "'pinfold doctor' says what works here"
}

func (f *mountFlags) viewOptions() sandboxfs.Options {
	o := viewhost.ServedBy(os.Geteuid(), os.Getegid())
	o.AllowOther = f.allowOther
	if os.Geteuid() != 0 {
		// By fusermount3: one connection, whose identifiers are the host's.
		o.SingleConnection, o.SquashIDs = true, nil
	}
	return o
}

// outside refuses a mount point beneath the directory that is shown: the view
// would show itself.
func outside(mnt, root string) error {
	real, err := filepath.EvalSymlinks(mnt)
	if err != nil {
		return err
	}
	if real, err = filepath.Abs(real); err != nil {
		return err
	}
	if real == root || strings.HasPrefix(real, strings.TrimSuffix(root, "/")+"/") {
		return cli.UsageError(fmt.Errorf("mount point %q lies beneath the directory that it would show, %q", mnt, root),
			"name an empty directory elsewhere")
	}
	return nil
}

func busyText(mnt string) string {
	return fmt.Sprintf("%q was in use: it is detached now, and goes when the last user does", mnt)
}
