// Command pinfold runs a program so that it reads only beneath one directory
// and writes only beneath the paths that were named.
//
//	pinfold run --write-path src -- make test
//	pinfold check --write-path src
//	pinfold why --write-path src go.mod
//
// One file is one command. What a command prints, and where, follows the
// rules at the top of output.go; what it exits with stands in exitcode.go.
// Everything that decides lies in the packages beneath; this one joins them
// and talks to the person. docs/cli.md is its manual.
package main
