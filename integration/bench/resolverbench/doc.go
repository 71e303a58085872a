//go:build linux

// Package resolverbench measures pathresolver against what else could open a
// file: the bare system call, the standard library, and the libraries that
// promise the same.
//
// Every contestant is a loop of its own over one path, so that no closure,
// interface or string is made in the part that is timed. All open an existing
// regular file, and close it again.
//
//	limit        openat2(BENEATH|NO_SYMLINKS|...) and close, without Go's scheduler
//	floor        openat2, fstat and close through Go: what a safe open must cost
//	os.Open      no confinement
//	os.Root      the standard library's confinement
//	pathrs-lite  filepath-securejoin's, reopened to be usable
//	evalsymlinks filepath.EvalSymlinks, a prefix check, os.Open: a race
//	openfd, open ours: a descriptor, an *os.File
//	walkfd, walk the same where openat2 is missing
package resolverbench
