package webinbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// shown is text of an agent as it is shown on one line: without control
// characters or what reorders text, and cut.
func shown(s string) string { return cut(s, maxLine) }

// cut escapes and cuts. It cuts first, so that a long text costs no more.
func cut(s string, most int) string {
	head, less := s, false
	if n := most * utf8.UTFMax; len(head) > n {
		head, less = head[:n], true
	}
	runes := 0
	head = pathresolver.EscapePath(head)
	for i := range head {
		if runes++; runes > most {
			head, less = head[:i], true
			break
		}
	}
	if less { // what was escaped may be longer than s, and cut all the same
		return fmt.Sprintf("%s… (cut, %d bytes in all)", head, len(s))
	}
	return head
}

// arguments are a call's arguments for a person: JSON with a line for each
// value, each line escaped. What is no JSON is shown as it is. cutShort says
// that not all of it is there.
func arguments(input string) (text string, cutShort bool) {
	var b bytes.Buffer
	if json.Indent(&b, []byte(input), "", "  ") == nil {
		input = b.String()
	}
	if cutShort = len(input) > maxArguments; cutShort {
		input = input[:maxArguments]
	}
	lines := strings.Split(input, "\n")
	for i := range lines {
		lines[i] = pathresolver.EscapePath(lines[i])
	}
	return strings.Join(lines, "\n"), cutShort
}
