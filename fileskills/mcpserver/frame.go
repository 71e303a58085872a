package mcpserver

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errFrameTooLong says that a line was longer than allowed. It was read to its
// end, so that the next one can be read.
var errFrameTooLong = errors.New("message is too long")

// readFrame reads a line of at most limit bytes and returns it without its
// ending, in memory of its own. A last line may lack the newline.
func readFrame(r *bufio.Reader, limit int) ([]byte, error) {
	var long []byte // what did not fit into the reader's buffer
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong && len(long)+len(part) > limit+1 { // the newline is free
			tooLong, long = true, nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if !tooLong {
				long = append(long, part...)
			}
			continue
		case errors.Is(err, io.EOF) && len(part)+len(long) > 0 && !tooLong:
		case err != nil && !tooLong:
			return nil, err
		}
		if tooLong {
			return nil, errFrameTooLong
		}
		return bytes.TrimRight(append(long, part...), "\r\n"), nil
	}
}
