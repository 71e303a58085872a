package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker where a release is built:
// -ldflags '-X github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli.version=v1.2.3'.
var version string

// NewVersion is the command version.
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

// VersionText is what 'pinfold version' prints.
func VersionText() string {
	return "pinfold " + BuildVersion() + " (" + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + ")"
}

// NewCompletion is the command completion.
func NewCompletion(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script that completes pinfold's commands and flags in a shell",
		Example: `  source <(pinfold completion bash)
  pinfold completion zsh > "${fpath[1]}/_pinfold"
  pinfold completion fish > ~/.config/fish/completions/pinfold.fish`,
		Args:                  OneArg("shell"),
		ValidArgs:             []string{"bash", "zsh", "fish"},
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch root := cmd.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Out.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.Out.Stdout)
			case "fish":
				return root.GenFishCompletion(a.Out.Stdout, true)
			default:
				return UsageError(UnknownWord("shell", args[0], "bash", "zsh", "fish"), "")
			}
		},
	}
}
