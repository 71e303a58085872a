// Package integration holds the tests that run over every surface at once:
// the corpus of testdata/cases, races, differential fuzzing, real workloads
// and kill -9. It needs Linux, root (it makes mounts and switches users) and
// /dev/fuse; where something is missing it fails, it does not skip.
//
// A surface is one way to the same rules: the Go API, afero, io/fs, a mount,
// the inside of `pinfold run`. A new one is one file with one type, see the
// interface Surface, and a line in the list of surfaces.
//
//	go test ./integration                      # minutes; races are short
//	PINFOLD_LONG=1 go test ./integration       # part of `make long`
//	PINFOLD_TABLE=FILE go test ./integration   # row × surface × mode, to a file
package integration
