// Command bench measures pinfold: the resolver against the system call and
// the libraries that promise the same, and the view by the shipped binary
// against the bare tree, a bubblewrap bind and other file systems in user
// space, as root and as an ordinary user. It is a module of its own, so that
// what is measured does not depend on what it is compared with, and runs in its
// own directory:
//
//	go run . --quick             # does everything run?
//	go run . --json bench.json   # the real thing
//	go run . --halves root --rows 'open*,grep' --peers native,pinfold,loopback
//
// Rounds are interleaved and medians shown; ratios are good only within one
// run, and only on a quiet machine: the load stands at the top and the end.
// docs/performance.md tells how to read the tables.
//
// As root it works in mount and process namespaces of its own, so that no
// mount and no process outlives it, however it ends; a kill -9 leaves its
// directory, which holds plain files. As an ordinary user only the resolver
// and the user's half run, without the cold rows.
package main
