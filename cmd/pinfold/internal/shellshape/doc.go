// Package shellshape knows the commands of which it can say what they touch. A
// command is known whole or not at all: each word of it is a program, an option
// or an operand of the table, which says of each what it stands for. Of a known
// command Read returns the files that it reads, lists and writes, to be put to
// the rules that everything else is put to. What is not known is an error, and no
// statement about the command.
//
// What a known command does to its operands is all that is claimed. A shape that
// runs what the project holds (go test, make) does what the project says.
package shellshape
