//go:build linux

// Package worker is the part of the bench that runs inside each environment:
// on the bare tree, on a mount, in a sandbox. One worker lives as long as its
// environment; it reads requests from its standard input, one JSON object a
// line, does a row of work by its own clock, and answers on its standard
// output in the same way. So rounds can go from environment to environment
// without starting anything, and no pipe is in what is timed.
//
// The working directory is the top of the tree. What it holds is Layout's
// business; everything is read-only but the directory that Serve is given.
package worker
