package main

import (
	"errors"
)

// The exit codes of pinfold. This is the only table of them; docs/cli.md
// prints the same one, and a test compares the two.
//
// `pinfold run` stands apart, as env(1), nohup(1) and timeout(1) do: the codes
// below 125 belong to the command that it runs.
const (
	exitOK     = 0 // done; check: no violation; why: allowed
	exitFailed = 1 // check: violations; why: denied; others: it failed
	exitUsage  = 2 // unknown flag, missing argument, unknown word

	exitLeft     = 122 // run --fail-on-left: something was left that can act later
	exitDenied   = 123 // run --fail-on-deny: something was refused, or came too fast to be judged
	exitRunOwn   = 125 // run: any error of pinfold's own; the command never ran
	exitNotExec  = 126 // run: the command cannot be executed
	exitNotFound = 127 // run: the command was not found
	exitSignal   = 128 // run: plus the number of the signal that ended the command
)

// exitError is an error that says how to exit, and perhaps what to do about
// it. With a nil err nothing is printed: the command has said it already.
type exitError struct {
	code int
	err  error
	hint string
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError makes err exit with exitUsage. Without a hint of its own it has err's.
func usageError(err error, hint string) error {
	var e *exitError
	if hint == "" && errors.As(err, &e) {
		hint = e.hint
	}
	return &exitError{code: exitUsage, err: err, hint: hint}
}

// silent exits with code and prints nothing.
func silent(code int) error { return &exitError{code: code} }

// codeOf is the exit code for what a command returned.
func codeOf(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	}
	return exitFailed
}

// runCode is run's exit code: the command's own comes without an error.
func runCode(err error) int {
	var e *exitError
	if errors.As(err, &e) && e.err == nil {
		return e.code
	}
	return exitRunOwn
}
