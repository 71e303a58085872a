//go:build linux

package launcher_test

import (
	"context"
	"log"
	"os"

	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// Run a command that sees a project and may write its directory out.
func Example() {
	r, err := pathresolver.New(pathresolver.Config{Root: "/home/me/project", WritePaths: []string{"out"}})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	view, err := sandboxfs.New(r, sandboxfs.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer view.Close()
	result, err := launcher.Run(context.Background(), launcher.Config{
		Resolver: r, View: view,
		Command: []string{"make"},
		Stdin:   os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	if err != nil {
		log.Fatal(err) // set-up failed; the command never ran
	}
	log.Println("exit code", result.ExitCode)
}
