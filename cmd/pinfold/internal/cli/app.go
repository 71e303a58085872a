package cli

import (
	"io"
	"os"
)

// App is what every command needs.
type App struct {
	Args  []string // after the program's name
	Stdin io.Reader
	Out   *Output
}

// OwnErrors marks the command whose every error of its own is ExitRunOwn.
const OwnErrors = "own-errors-are-125"

// File is the file behind a stream; a stream that has none is /dev/null.
func File(stream any) *os.File {
	f, _ := stream.(*os.File)
	return f
}
