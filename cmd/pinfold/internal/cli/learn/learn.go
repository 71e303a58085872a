package learn

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/child"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/learned"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/internal/policies"
)

type flags struct {
	root  string
	print bool
	force bool
	ro    []string
	env   []string
	net   string
}

// New is the command learn.
func New(a *cli.App) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "learn [flags] -- CMD [ARG]...",
		Short: "Run a command over a copy that is thrown away, and write the .pinfold.yaml that it needs",
		Long: `learn runs CMD as 'pinfold run -w .' does, over a copy of DIR that is thrown away:
nothing that CMD writes reaches the project. Then it writes a .pinfold.yaml with the
fewest write paths by which CMD would have worked, each with what was written there.
What is protected is refused as ever, and stands in the file as a comment.

What CMD reads outside of DIR it does not find out: name it with --ro and --env,
which the file takes over. The network is as 'run' has it. Read the file, then type
'pinfold trust': until then only what it takes away counts.

The exit code is CMD's own, or 125 where no file was written.`,
		Example: `  pinfold learn -- npm test
  pinfold learn --ro ~/go/pkg/mod -- go build ./...
  pinfold learn --print -- make`,
		Annotations: map[string]string{cli.OwnErrors: "yes"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.UsageError(errors.New("no command is given"), "pinfold learn [flags] -- CMD [ARG]...")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.learn(a, args) },
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false)
	flags.StringVarP(&f.root, "directory", "C", ".", "the project's directory `DIR`")
	flags.BoolVar(&f.print, "print", false, "print the file, and write nothing")
	flags.BoolVar(&f.force, "force", false, "write over a .pinfold.yaml that is there")
	flags.StringArrayVar(&f.ro, "ro", nil, "show `PATH` of the host inside, read-only, and in the file (repeatable)")
	flags.StringArrayVar(&f.env, "env", nil, "pass the variable `KEY` on to CMD, and name it in the file (repeatable)")
	flags.StringVar(&f.net, "net", "", "the network inside: `host|none`; none goes to the file, too")
	_ = cmd.MarkFlagDirname("directory")
	_ = cmd.RegisterFlagCompletionFunc("net", cobra.FixedCompletions([]string{"host", "none"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (f *flags) learn(a *cli.App, command []string) error {
	for _, kv := range f.env {
		if strings.Contains(kv, "=") {
			return cli.UsageError(fmt.Errorf("--env %q has a value, and the file has names alone", kv), "give the name, and set the variable outside")
		}
	}
	at, err := hostpath.Resolve(f.root)
	if err != nil {
		return cli.UsageError(hostfile.Named(f.root, err), "")
	}
	project, err := hostfile.OpenProject(at.Real)
	if err != nil {
		return cli.UsageError(hostfile.Named(f.root, err), "")
	}
	defer project.Close()
	_, err = project.Root.Lstat(policies.ProjectFile)
	if err == nil && !f.print && !f.force {
		return cli.UsageError(fmt.Errorf("there is a %s in '%s' already", policies.ProjectFile, f.root), "--force writes over it, --print prints what would be written")
	}
	git := false
	if info, err := project.Root.Lstat(".git"); err == nil {
		git = info.IsDir()
	}
	line := []string{"learned-run", "-C", ".", "-w", ".", "--no-project", "--quiet"}
	if git {
		line = append(line, "--git")
	}
	if f.net != "" {
		line = append(line, "--net="+f.net)
	}
	for _, path := range f.ro {
		path, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		line = append(line, "--ro="+path)
	}
	for _, name := range f.env {
		line = append(line, "--env="+name)
	}
	seen, code, err := run(a, at.Real, slices.Concat(line, []string{"--"}, command))
	switch {
	case err != nil:
		return err
	case !seen.Ran:
		return cli.Silent(code) // which was said
	case code != 0:
		a.Out.Warning(fmt.Sprintf("the command ended with %d: what it would have done after that is not known", code))
	}
	existed := func(place string) bool {
		_, err := project.Root.Lstat(place)
		return !errors.Is(err, fs.ErrNotExist)
	}
	text := proposal{
		flags: f, command: command, code: code, full: seen.Full, refusals: seen.Refused,
		writes: learned.WritePaths(seen, existed, sayable),
	}.text()
	if f.print {
		a.Out.Stdout.Printf("%s", text)
		return cli.Silent(code)
	}
	if err := f.write(project, at.Real, text); err != nil {
		return err
	}
	a.Out.Stdout.Printf("%s", text)
	a.Out.Hint("written to " + policies.ProjectFile + "; read it, then 'pinfold trust' lets runs take what it opens")
	return cli.Silent(code)
}

// write puts the file into the project, whole or not at all.
func (f *flags) write(project *hostfile.Project, root, text string) error {
	if f.force {
		return hostfile.Named(policies.ProjectFile, hostfile.Replace(filepath.Join(root, policies.ProjectFile), []byte(text)))
	}
	file, err := project.Root.OpenFile(policies.ProjectFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return hostfile.Named(policies.ProjectFile, err)
	}
	_, err = io.WriteString(file, text)
	if err = errors.Join(err, file.Close()); err != nil {
		err = errors.Join(err, project.Root.Remove(policies.ProjectFile))
	}
	return err
}

// run runs a command of pinfold over an overlay of root, and returns what it has seen and
// its exit code.
func run(a *cli.App, root string, line []string) (seen learned.Seen, code int, err error) {
	cmd, err := child.Command("learned-layer")
	if err != nil {
		return seen, 0, err
	}
	in, out, err := os.Pipe()
	if err != nil {
		return seen, 0, err
	}
	defer func() { _ = in.Close() }() // it was read
	cmd.Args = slices.Concat(cmd.Args, []string{"--", root}, line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.Stdin, a.Out.Stdout.Writer, a.Out.Stderr.Writer
	cmd.ExtraFiles = []*os.File{out}
	cmd.SysProcAttr = apart()
	// The process is killed with this thread, and so with this process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// A terminal's keys reach the run by themselves; this process waits for it.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := errors.Join(cmd.Start(), out.Close()); err != nil {
		return seen, 0, noNamespaces(err)
	}
	over := make(chan struct{})
	defer close(over)
	go func() {
		for {
			select {
			case s := <-signals:
				if s == syscall.SIGTERM || s == syscall.SIGHUP {
					_ = cmd.Process.Signal(s) // or it has ended
				}
			case <-over:
				return
			}
		}
	}()
	told := gob.NewDecoder(in).Decode(&seen)
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		code, err = exit.ExitCode(), nil
	case exit != nil:
		return seen, 0, fmt.Errorf("the run was ended: %w", err)
	}
	if told != nil && code == 0 { // otherwise it has said why
		err = fmt.Errorf("the run did not say what it has seen: %w", told)
	}
	return seen, code, err
}
