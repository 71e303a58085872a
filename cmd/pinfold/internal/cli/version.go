package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker where a release is built:
// -ldflags '-X github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli.version=v1.2.3'.
var version string

func NewVersion(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  NoArgs,
		Run: func(*cobra.Command, []string) {
			a.Out.Stdout.Printf("%s\n", VersionText())
		},
	}
}

// BuildVersion is that version, or what the build recorded about its source.
func BuildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func VersionText() string {
	return "pinfold " + BuildVersion() + " (" + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + ")"
}
