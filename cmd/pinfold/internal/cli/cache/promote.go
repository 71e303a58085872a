package cache

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/caches"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// provable are the caches of which something is promoted.
func provable() (names []string) {
	for _, c := range caches.Table() {
		if c.Proof != "" {
			names = append(names, c.Name)
		}
	}
	return names
}

func newPromote(a *cli.App) *cobra.Command {
	var root, sums string
	var dry bool
	cmd := &cobra.Command{
		Use:   "promote [flags] CACHE",
		Short: "Take over from a layer to your own cache what a checksum proves",
		Long: `promote takes over to your own cache, of what runs in the project at DIR have added
to their layer, what a checksum proves, and nothing else:

  go   modules and go.mod files whose hash stands in go.sum. Their .info files are
       made anew, without the time of the version. Of the build cache nothing.
  npm  packages whose SHA-512 stands in package-lock.json. Of the index nothing:
       'npm ci' finds a package by its hash.

Of pip and cargo nothing is taken over.

An agent that could write go.sum could make it say what it likes. So a file in a
place where a run could write is refused: name with --sum one that you know, such as
of a commit of yours, which lies elsewhere. A file that your cache has is left as
it is.

The exit code is 1 where something in the layer was not what its checksum says.`,
		Example: `  pinfold cache promote go
  git show v1.2.0:go.sum > /tmp/go.sum && pinfold cache promote go --sum /tmp/go.sum
  pinfold cache promote npm --dry-run`,
		ValidArgs: provable(),
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return cli.UsageError(errors.New("one cache is promoted at a time"), "pinfold cache promote [flags] CACHE")
			case !slices.Contains(caches.Names(), args[0]):
				return cli.UsageError(cli.UnknownWord("cache", args[0], provable()...), "")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return promote(a, root, sums, args[0], dry) },
	}
	cmd.Flags().StringVarP(&root, "directory", "C", ".", "the project at `DIR`")
	cmd.Flags().StringVar(&sums, "sum", "", "take the checksums from `FILE` instead of the project's own file")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "check, and take over nothing")
	_ = cmd.MarkFlagDirname("directory")
	return cmd
}

func promote(a *cli.App, root, sums, name string, dry bool) error {
	c, _ := caches.Find(name) // it was looked for
	if c.Proof == "" {
		return cli.UsageError(fmt.Errorf("of the cache '%s' nothing is promoted: %s", name, c.Unproved), "")
	}
	project, err := projectRoot(root)
	if err != nil {
		return err
	}
	file := sums
	if file == "" {
		file = filepath.Join(project, c.Proof)
	}
	proof, err := readSums(file, c)
	if err != nil {
		return err
	}
	base, err := state.CachesDir()
	if err != nil {
		return err
	}
	plans, err := caches.PlanFor(caches.ThisHost(), []string{name})
	if err != nil {
		return err
	}
	if err := hostfile.Refuse("the cache", plans[0].Parts[0].Path); err != nil {
		return err
	}
	res, err := caches.Promote(base, project, plans[0], proof, dry)
	switch {
	case errors.Is(err, caches.ErrBusy):
		return &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("the layer over the cache '%s': %w", name, err), Hint: "'pinfold ps' lists the runs that go on"}
	case errors.Is(err, fs.ErrNotExist):
		return &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("no run in '%s' has kept a layer over the cache '%s'", pathresolver.EscapePath(project), name), Hint: "'pinfold cache list' lists the layers"}
	case err != nil:
		return fmt.Errorf("'%s': %w", file, err)
	}
	verb := "taken over"
	if dry {
		verb = "would be taken over"
	}
	for _, what := range res.Taken {
		a.Out.Stdout.Printf("%s  %s\n", verb, pathresolver.EscapePath(what))
	}
	for _, r := range res.Refused {
		a.Out.Error(fmt.Sprintf("'%s' is not taken over: %s", pathresolver.EscapePath(r.Name), pathresolver.EscapePath(r.Why)))
	}
	a.Out.Stdout.Printf("%d %s, %d there already, %d refused\n", len(res.Taken), verb, res.There, len(res.Refused))
	if len(res.Refused) > 0 {
		return cli.Silent(cli.ExitFailed)
	}
	return nil
}

// readSums reads a file of checksums that no run could write.
func readSums(file string, c caches.Cache) ([]byte, error) {
	place, err := hostfile.WrittenPlace(file)
	if err != nil {
		return nil, hostfile.Named(file, err)
	}
	if place != "" {
		return nil, &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("'%s' proves nothing: it lies in '%s', where a run could write", pathresolver.EscapePath(file), pathresolver.EscapePath(place)),
			Hint: fmt.Sprintf("name one that you know, and that lies elsewhere: git show COMMIT:%s > /tmp/%[1]s, then --sum /tmp/%[1]s", c.Proof)}
	}
	f, err := hostfile.Open("--sum", file, os.O_RDONLY, 0)
	if err != nil {
		return nil, hostfile.Named(file, err)
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, caches.MaxSums+1))
	if err == nil && len(data) > caches.MaxSums {
		err = fmt.Errorf("'%s' is longer than %d bytes", file, caches.MaxSums)
	}
	return data, err
}
