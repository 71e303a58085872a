// Package claudecode reads what Claude Code says of a call of one of its tools,
// as its documentation of hooks and of --permission-prompt-tool has it, and
// writes the answers.
//
// It says what a call would touch; whether that is allowed others decide. A call
// that it does not understand is an error, never a call that touches nothing.
package claudecode
