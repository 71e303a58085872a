package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/internal/didyoumean"
)

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasAvailableSubCommands() {
		return usageError(fmt.Errorf("unknown command %q", args[0]), likeCommand(cmd, args[0]))
	}
	return usageError(fmt.Errorf("unexpected argument %q", args[0]), seeHelp(cmd))
}

// likeCommand is what was probably meant by a command that cmd does not have.
func likeCommand(cmd *cobra.Command, word string) string {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	if like := didyoumean.Word(word, names); like != "" {
		return "did you mean '" + cmd.CommandPath() + " " + like + "'?"
	}
	return seeHelp(cmd)
}

// oneArg wants exactly one argument, by the name that Use gives it.
func oneArg(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usageError(fmt.Errorf("no %s is given", name), seeHelp(cmd))
		case len(args) > 1:
			return usageError(fmt.Errorf("unexpected argument %q", args[1]), seeHelp(cmd))
		}
		return nil
	}
}

func seeHelp(cmd *cobra.Command) string { return "see '" + cmd.CommandPath() + " --help'" }

// unknownWord is the error for a word that is none of a closed list.
func unknownWord(what, word string, valid ...string) error {
	return fmt.Errorf("unknown %s %q: want %s", what, word, strings.Join(valid, ", "))
}

// refuseDashes refuses "--" as a value of a flag: `-w $UNSET -- CMD` would otherwise
// take the end of the flags for a path.
func refuseDashes(flag string, values ...string) error {
	if slices.Contains(values, "--") {
		return usageError(fmt.Errorf("%s was given \"--\", which ends the flags, as its value", flag),
			"is a variable empty? Quote it; a file of that name is './--'")
	}
	return nil
}
