package cli

import "github.com/spf13/cobra"

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
