package claudecode

import (
	"slices"
	"strings"
)

// plainSyntax are the bytes of a command that is one program with arguments, to
// which a shell adds nothing: no other command, expansion, redirection, quote or
// comment.
const plainSyntax = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._-/:=,@%+"

// gitWrites are options of git's that write a file, run a program or read outside
// of a repository, whatever else the command does.
var gitWrites = []string{"output", "output-directory", "no-index", "ext-diff", "textconv"}

// leavesProject reports whether an argument of a command that is meant to look at
// the project, or to change its history, could lead elsewhere. Others run what
// the project holds: what they are told is no bound.
func leavesProject(args []string) bool {
	for _, arg := range args {
		option, long := strings.CutPrefix(arg, "--")
		option, _, _ = strings.Cut(option, "=")
		for _, o := range gitWrites { // git takes an option by its beginning, too
			if long && option != "" && strings.HasPrefix(o, option) {
				return true
			}
		}
		if strings.HasPrefix(arg, "/") || strings.HasPrefix(arg, "-") && strings.Contains(arg, "/") || slices.Contains(strings.Split(arg, "/"), "..") {
			return true
		}
		if _, value, ok := strings.Cut(arg, "="); ok && value == ".." {
			return true
		}
	}
	return false
}

// IsPlain reports whether a command is one program with its arguments that
// begins with the words of one of the listed ones. A command that is not plain
// may be anything.
func IsPlain(command string, listed []string) bool {
	if strings.Trim(command, plainSyntax) != "" {
		return false
	}
	for i := range len(command) {
		if !strings.Contains(plainSyntax, command[i:i+1]) {
			return false
		}
	}
	words := strings.Fields(command)
	if len(words) > 0 && (words[0] == "git" || words[0] == "ls") && leavesProject(words[1:]) {
		return false
	}
	for _, l := range listed {
		begin := strings.Fields(l)
		if len(begin) > 0 && len(words) >= len(begin) && strings.Join(words[:len(begin)], " ") == strings.Join(begin, " ") {
			return true
		}
	}
	return false
}
