package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pinfold-dev/pinfold/internal/didyoumean"
)

// App is what every command needs.
type App struct {
	Args  []string // after the program's name
	Stdin io.Reader
	Out   *Output
}

// OwnErrors marks the command whose every error of its own is ExitRunOwn.
const OwnErrors = "own-errors-are-125"

// File is the file behind a stream; a stream that has none is /dev/null.
func File(stream any) *os.File {
	f, _ := stream.(*os.File)
	return f
}

// NoArgs refuses arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasAvailableSubCommands() {
		return UsageError(fmt.Errorf("unknown command %q", args[0]), likeCommand(cmd, args[0]))
	}
	return UsageError(fmt.Errorf("unexpected argument %q", args[0]), SeeHelp(cmd))
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
	return SeeHelp(cmd)
}

// wishes are flags that people expect, by the names that other tools have for them.
var wishes = map[string]string{
	"no-network": "--net none", "no-net": "--net none", "offline": "--net none",
	"read-only": "no --write-path: without one nothing can be written", "readonly": "no --write-path: without one nothing can be written",
	"bind": "--write-path, or --ro", "ro-bind": "--ro", "read-path": "--ro", "allow-read": "--ro",
	"rw": "--write-path", "allow-write": "--write-path", "cwd": "--directory", "exclude": "--hide",
}

// LikeFlag is what to type in place of a flag that cmd does not have, or where its help is.
func LikeFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return SeeHelp(cmd)
	}
	given := unknown.GetSpecifiedName()
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	like := didyoumean.Word(given, names)
	if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, given+"-") }); like == "" && i >= 0 {
		like = names[i] // a beginning, as --write
	}
	if like != "" {
		like = "--" + like
	} else if wish := wishes[given]; cmd.Flags().Lookup("ro") != nil {
		like = wish
	}
	if like == "" {
		return SeeHelp(cmd)
	}
	return "did you mean " + like + "? " + strings.ToUpper(SeeHelp(cmd)[:1]) + SeeHelp(cmd)[1:]
}

// OneArg wants exactly one argument, by the name that Use gives it.
func OneArg(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return UsageError(fmt.Errorf("no %s is given", name), SeeHelp(cmd))
		case len(args) > 1:
			return UsageError(fmt.Errorf("unexpected argument %q", args[1]), SeeHelp(cmd))
		}
		return nil
	}
}

// SeeHelp is the hint that names a command's help.
func SeeHelp(cmd *cobra.Command) string { return "see '" + cmd.CommandPath() + " --help'" }

// UnknownWord is the error for a word that is not in a closed list.
func UnknownWord(what, word string, valid ...string) error {
	return fmt.Errorf("unknown %s %q: want %s", what, word, strings.Join(valid, ", "))
}

// RefuseDashes refuses "--" as a value of a flag: `-w $UNSET -- CMD` would otherwise
// take the end of the flags for a path.
func RefuseDashes(flag string, values ...string) error {
	if slices.Contains(values, "--") {
		return UsageError(fmt.Errorf("%s was given \"--\", which ends the flags, as its value", flag),
			"is a variable empty? Quote it; a file of that name is './--'")
	}
	return nil
}
