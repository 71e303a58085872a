package cli

import (
	"errors"
	"strconv"
)

// The exit codes of pinfold. This is the only table of them; docs/cli.md
// prints the same one, and a test compares the two.
//
// `pinfold run` stands apart, as env(1), nohup(1) and timeout(1) do: the codes
// below 125 belong to the command that it runs.
const (
	ExitOK     = 0 // done; check: no violation; why: allowed
	ExitFailed = 1 // check: violations; why: denied; run: CMD's output could not be written; others: it failed
	ExitUsage  = 2 // unknown flag, missing argument, unknown word

	ExitLeft     = 122 // run --fail-on-left: something was left that can act later
	ExitDenied   = 123 // run --fail-on-deny: something was refused, or came too fast to be judged
	ExitTime     = 124 // run --time: its time was over
	ExitRunOwn   = 125 // run: any error of pinfold's own; the command never ran
	ExitNotExec  = 126 // run: the command cannot be executed
	ExitNotFound = 127 // run: the command was not found
	ExitSignal   = 128 // run: plus the number of the signal that ended the command
)

// exitMeaning is one line about exit codes in a man page.
type exitMeaning struct{ code, text string }

var (
	exitMeanings = []exitMeaning{
		{strconv.Itoa(ExitOK), "done; check: no violation; why: allowed"},
		{strconv.Itoa(ExitFailed), "it failed; check: violations; why: denied"},
		{strconv.Itoa(ExitUsage), "called wrongly: an unknown flag, a missing argument, an unknown word"},
	}
	runExitMeanings = []exitMeaning{
		{strconv.Itoa(ExitFailed), "CMD succeeded, but its output could not be written; or CMD's own"},
		{strconv.Itoa(ExitLeft), "with --fail-on-left: something was left that can act later"},
		{strconv.Itoa(ExitDenied), "with --fail-on-deny: something was refused, or came too fast to be judged"},
		{strconv.Itoa(ExitTime), "with --time: its time was over"},
		{strconv.Itoa(ExitRunOwn), "an error of pinfold's own; CMD did not run"},
		{strconv.Itoa(ExitNotExec), "CMD cannot be executed"},
		{strconv.Itoa(ExitNotFound), "CMD was not found inside"},
		{strconv.Itoa(ExitSignal) + "+n", "signal n ended CMD"},
		{"other", "CMD's own"},
	}
)

// ExitError is an error that says with which code to exit, and perhaps what to do
// about it. With a nil Err nothing is printed: the command has printed it already.
type ExitError struct {
	Code int
	Err  error
	Hint string
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// UsageError is err with the code ExitUsage. Where hint is empty it keeps err's.
func UsageError(err error, hint string) error {
	var e *ExitError
	if hint == "" && errors.As(err, &e) {
		hint = e.Hint
	}
	return &ExitError{Code: ExitUsage, Err: err, Hint: hint}
}

// Silent exits with code and prints nothing.
func Silent(code int) error { return &ExitError{Code: code} }

// CodeOf is the exit code for what a command returned.
func CodeOf(err error) int {
	var e *ExitError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &e):
		return e.Code
	}
	return ExitFailed
}

// RunCode is the exit code of run: the command's own, which comes without an error, or
// ExitRunOwn.
func RunCode(err error) int {
	var e *ExitError
	if errors.As(err, &e) && e.Err == nil {
		return e.Code
	}
	return ExitRunOwn
}
