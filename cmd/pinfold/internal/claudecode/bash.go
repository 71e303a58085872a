package claudecode

import "strings"

// plainSyntax are the bytes of a command that is one program with arguments, to
// which a shell adds nothing: no other command, expansion, redirection, quote or
// comment.
const plainSyntax = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._-/:=,@%+"

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
	for _, l := range listed {
		begin := strings.Fields(l)
		if len(begin) > 0 && len(words) >= len(begin) && strings.Join(words[:len(begin)], " ") == strings.Join(begin, " ") {
			return true
		}
	}
	return false
}
