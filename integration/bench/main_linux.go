package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/integration/bench/mcpbench"
	"github.com/pinfold-dev/pinfold/integration/bench/worker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run answers with the exit status: 0 when everything asked for was measured,
// whatever the figures; 1 when it was not; 2 for wrong usage.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr *os.File) int {
	err := dispatch(ctx, args, stdin, stdout, stderr)
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, new(usageError)):
		fmt.Fprintln(stderr, "bench: error:", err)
		return 2
	}
	fmt.Fprintln(stderr, "bench: error:", err)
	return 1
}

// dispatch also knows three first words that the bench only says to itself:
// "worker" inside an environment, "bare" for the server that pinfold's is
// compared with, and "isolated" inside its namespaces.
func dispatch(ctx context.Context, args []string, stdin io.Reader, stdout, stderr *os.File) (err error) {
	if len(args) > 0 && args[0] == "worker" {
		return serveWorker(args[1:], stdin, stdout)
	}
	if len(args) == 1 && args[0] == "bare" {
		return mcpbench.Bare(ctx)
	}
	if len(args) > 1 && args[0] == "isolated" {
		o, err := parseFlags(args[2:], stderr)
		if err != nil {
			return err
		}
		if err := settle(args[1]); err != nil {
			return err
		}
		return measure(ctx, o, args[1], stdout, stderr)
	}
	o, err := parseFlags(args, stderr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.dir, "pinfold-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := prepare(ctx, o, dir, stderr); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return measure(ctx, o, dir, stdout, stderr)
	}
	return isolate(ctx, dir, args, stdout, stderr)
}

func serveWorker(args []string, stdin io.Reader, stdout io.Writer) error {
	f := flag.NewFlagSet("worker", flag.ContinueOnError)
	dir := f.String("dir", "", "where to write, relative to the tree")
	quick := f.Bool("quick", false, "a small tree")
	if err := f.Parse(args); err != nil {
		return err
	}
	return worker.Serve(stdin, stdout, *dir, scale(*quick))
}

func scale(quick bool) worker.Scale {
	if quick {
		return worker.Quick()
	}
	return worker.Full()
}
