package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/integration/bench/mcpbench"
	"github.com/pinfold-dev/pinfold/integration/bench/rulesbench"
	"github.com/pinfold-dev/pinfold/integration/bench/viewbench"
)

// needs are the programs that rows and peers are made of, and the Debian
// packages that hold them.
var needs = []struct{ program, pkg string }{
	{"git", "git"}, {"tar", "tar"}, {"rg", "ripgrep"}, {"fusermount3", "fuse3"},
	{"bwrap", "bubblewrap"}, {"bindfs", "bindfs"}, {"fuse-overlayfs", "fuse-overlayfs"},
	{"mergerfs", "mergerfs"}, {"gcc", "gcc"}, {"pkg-config", "pkg-config"},
}

// repository is the directory of the module that is measured, from the bench's
// own, in which the bench is run.
const repository = "../.."

// libfuseExample is a peer that Debian ships as source.
const libfuseExample = "/usr/share/doc/libfuse3-dev/examples/passthrough_ll.c"

// prepare installs and builds what takes part, into dir/bin. A peer that can
// not be had is said and left out; pinfold's own programs must build.
func prepare(ctx context.Context, o options, dir string, log io.Writer) error {
	bin := filepath.Join(dir, "bin")
	if err := os.Chmod(dir, 0o755); err != nil { // the ordinary user comes here, too
		return err
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := command(ctx, "cp", self, filepath.Join(bin, "bench")); err != nil {
		return err
	}
	views := slices.Contains(o.halves, rootHalf) || slices.Contains(o.halves, userHalf)
	skills := slices.Contains(o.halves, mcpbench.Name)
	rules := slices.Contains(o.halves, rulesbench.Name)
	if views || skills || rules {
		if err := buildPinfold(ctx, o, bin); err != nil {
			return err
		}
	}
	if skills {
		linkClients(ctx, o, bin, log)
	}
	if views {
		install(ctx, o, log)
		if err := buildPeers(ctx, bin, log); err != nil {
			return err
		}
	}
	if !views && !rules {
		return nil
	}
	return viewbench.GrowTree(mustDir(dir, "tree"), scale(o.quick))
}

func mustDir(dir, name string) string {
	p := filepath.Join(dir, name)
	_ = os.Mkdir(p, 0o755) // what comes next fails if this did
	return p
}

func install(ctx context.Context, o options, log io.Writer) {
	var missing []string
	for _, n := range needs {
		if _, err := exec.LookPath(n.program); err != nil {
			missing = append(missing, n.pkg)
		}
	}
	if _, err := os.Stat(libfuseExample); err != nil {
		missing = append(missing, "libfuse3-dev")
	}
	if len(missing) == 0 {
		return
	}
	argv := append([]string{"apt-get", "install", "-y", "--no-install-recommends"}, missing...)
	if os.Geteuid() != 0 || o.noInstall {
		fmt.Fprintf(log, "bench: hint: to measure everything: %s\n", strings.Join(argv, " "))
		return
	}
	if err := command(ctx, argv...); err != nil {
		fmt.Fprintf(log, "bench: warning: going on without %s: %v\n", strings.Join(missing, ", "), err)
	}
}

// buildPinfold makes the binary, as it is shipped: static.
func buildPinfold(ctx context.Context, o options, bin string) error {
	pinfold := filepath.Join(bin, viewbench.Pinfold)
	if o.pinfold != "" {
		if err := command(ctx, "cp", o.pinfold, pinfold); err != nil {
			return err
		}
	} else if err := goBuild(ctx, pinfold, "./cmd/pinfold"); err != nil {
		return fmt.Errorf("build pinfold (run this in integration/bench, or name a --pinfold): %w", err)
	}
	if o.also == "" {
		return nil
	}
	return command(ctx, "cp", o.also, filepath.Join(bin, viewbench.Also))
}

// linkClients has .ci/node install the official MCP server, once for the user
// who runs this, and links to it. Without it the mcp half has a column less.
func linkClients(ctx context.Context, o options, bin string, log io.Writer) {
	dir := os.Getenv("PINFOLD_NODE")
	if dir == "" && !o.noInstall {
		out, err := exec.CommandContext(ctx, "sh", repository+"/.ci/node").Output()
		if err != nil {
			fmt.Fprintf(log, "bench: warning: going on without the official MCP server: %v\n", err)
		}
		dir = strings.TrimSpace(string(out))
	}
	if dir == "" {
		return
	}
	if err := os.Symlink(dir, filepath.Join(bin, mcpbench.Clients)); err != nil {
		fmt.Fprintf(log, "bench: warning: %v\n", err)
	}
}

// buildPeers makes the peers that are not installed.
func buildPeers(ctx context.Context, bin string, log io.Writer) error {
	if err := goBuild(ctx, filepath.Join(bin, "loopback"), "github.com/hanwen/go-fuse/v2/example/loopback"); err != nil {
		return fmt.Errorf("build go-fuse's loopback: %w", err)
	}
	// The shell splits what pkg-config says; no path of ours is in it but the
	// two that are handed over as arguments.
	const compile = `gcc -O2 -o "$1" "$2" $(pkg-config --cflags --libs fuse3)`
	if err := command(ctx, "sh", "-c", compile, "sh", filepath.Join(bin, "passthrough_ll"), libfuseExample); err != nil {
		fmt.Fprintf(log, "bench: warning: going on without passthrough_ll: %v\n", err)
	}
	return nil
}

// goBuild builds a package with the versions of the repository's go.mod, not of
// the bench's own.
func goBuild(ctx context.Context, out, pkg string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	return command(ctx, "env", "CGO_ENABLED=0", "go", "build", "-C", repository, "-trimpath", "-o", out, pkg)
}

// command runs a program and shows its output only when it fails.
func command(ctx context.Context, argv ...string) error {
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return nil
}
