//go:build linux

// Package viewbench measures the view by the shipped binary with default
// flags, against the bare tree, a bubblewrap bind and other file systems in
// user space, as root and as an ordinary user.
//
// All environments show one tree: Tree makes it. An Env is a way to show it,
// with a worker inside (package worker) that does the rows. A Bench starts
// them all, hands out the rows, and ends them all. Whatever it starts dies
// with it, also when it is killed: daemons and workers get a death signal,
// and the main program puts everything into mount and process namespaces of
// its own where it may.
package viewbench
