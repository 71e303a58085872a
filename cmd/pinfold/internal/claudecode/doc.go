// Package claudecode reads what Claude Code says about a call of one of its tools, as
// its documentation of hooks and of --permission-prompt-tool describes it, and writes
// the answers.
//
// It says what a call would touch; whether that is allowed is decided elsewhere. A
// call that it does not understand is an error, and never passes for a call that
// touches nothing.
package claudecode
