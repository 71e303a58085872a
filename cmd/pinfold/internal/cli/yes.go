package cli

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// CanAsk reports whether somebody sits at the terminal who can be asked.
func CanAsk(a *App) bool {
	in := File(a.Stdin)
	return in != nil && NewStream(in).Terminal && a.Out.Stderr.Terminal
}

// AskYes asks on the terminal (CanAsk) and reports whether the answer was yes. The word is
// long enough not to be typed by chance, and what was typed before the question is no
// answer to it.
func AskYes(a *App, question string) (bool, error) {
	in := File(a.Stdin)
	a.Out.Stderr.Printf("%s ", question)
	if err := forgetTyped(in); err != nil {
		return false, err
	}
	a.Out.Stderr.Printf("Type yes: ")
	answer, err := bufio.NewReader(io.LimitReader(in, 100)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return strings.TrimSpace(answer) == "yes", nil
}
