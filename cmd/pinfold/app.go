package main

import (
	"io"
	"os"
)

// app is what every command needs.
type app struct {
	args  []string // after the program's name
	stdin io.Reader
	out   *output
}

// ownErrors marks the command whose every error of its own is exitRunOwn.
const ownErrors = "own-errors-are-125"

// file is the file behind a stream; a stream that has none is /dev/null.
func file(stream any) *os.File {
	f, _ := stream.(*os.File)
	return f
}
