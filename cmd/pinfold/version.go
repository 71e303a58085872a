package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is set by the linker where a release is built:
// -ldflags '-X main.release=v1.2.3'.
var release string

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		Run: func(*cobra.Command, []string) {
			a.out.stdout.printf("%s\n", versionText())
		},
	}
}

// version is the release, or what the build recorded about its source.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func versionText() string {
	return "pinfold " + version() + " (" + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + ")"
}
