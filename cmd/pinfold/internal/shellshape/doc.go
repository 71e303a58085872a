// Package shellshape knows some commands well enough to say what they touch. A command
// is known as a whole or not at all: each word of it is a program, an option or an
// operand in the table, which says what it stands for. For a known command Read
// returns the files that it reads, lists and writes, so that they can be put to the
// rules like any others. For an unknown command Read returns an error, which says
// nothing about the command itself.
//
// What it says is only what a known command does to its operands. A command that runs
// what the project holds (go test, make) does what the project says.
package shellshape
