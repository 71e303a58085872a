package run

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/learned"
)

// NewLearnedRun is the run of 'pinfold learn', in a mount namespace in which the project is
// an overlay. It is hidden.
func NewLearnedRun(a *cli.App) *cobra.Command {
	var f runFlags
	cmd := newRun(a, &f, &cobra.Command{
		Use:    "learned-run [flags] -- CMD [ARG]...",
		Short:  "Run a command over a copy that is thrown away, for learn",
		Hidden: true,
	})
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		syscall.CloseOnExec(learned.To)
		syscall.CloseOnExec(learned.Layer)
		to := os.NewFile(learned.To, "learned")
		upper, err := os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", learned.Layer))
		if err != nil {
			return cli.UsageError(errors.New("this command is learn's own"), "'pinfold learn -- CMD' learns what CMD needs, 'pinfold run' runs it")
		}
		f.learned = learned.NewRecord()
		err = run(cmd, args)
		// What stood there before and is gone is a device 0:0 in the layer (overlayfs).
		failed := fs.WalkDir(upper.FS(), ".", func(place string, d fs.DirEntry, err error) error {
			if err != nil || d.Type()&fs.ModeCharDevice == 0 {
				return err
			}
			if info, err := d.Info(); err == nil && info.Sys().(*syscall.Stat_t).Rdev == 0 {
				f.learned.Add(learned.Change{Op: access.OpDelete, Place: place})
			}
			return nil
		})
		seen := f.learned.Seen(func(place string) bool {
			info, err := upper.Lstat(place)
			return err == nil && info.Mode()&fs.ModeCharDevice == 0
		})
		seen.Ran = f.ran
		if failed = errors.Join(failed, gob.NewEncoder(to).Encode(seen), to.Close(), upper.Close()); failed != nil {
			return failed
		}
		return err
	}
	return cmd
}
