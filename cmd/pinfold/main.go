package main

import (
	"context"
	"io"
	"os"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
)

func main() {
	os.Exit(execute(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// execute is main without the process: it returns the exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &cli.App{Args: args, Stdin: stdin, Out: cli.NewOutput(stdout, stderr)}
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return cli.ExitOK
	}
	a.Out.Failure(err)
	if cmd.Annotations[cli.OwnErrors] != "" {
		return cli.RunCode(err)
	}
	return cli.CodeOf(err)
}
