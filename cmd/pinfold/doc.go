// Command pinfold runs a program so that it reads only beneath one directory
// and writes only beneath the paths that were named.
//
//	pinfold run --write-path src -- make test
//	pinfold check --write-path src
//	pinfold why --write-path src go.mod
//
// The commands lie in internal/cli, by what a user does; root.go lists them.
// docs/cli.md is the manual. Everything that decides lies in the packages at the
// top of the repository; these join them and talk to the person.
package main
