package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// tooLongError says that a line was longer than allowed. It was read to its
// end, so that the next one can be read.
type tooLongError struct {
	id json.RawMessage // of the request that it was; nil where none was made out
}

func (*tooLongError) Error() string { return "message is too long" }

// readFrame reads a line of at most limit bytes and returns it without its
// ending, in memory of its own. A last line may lack the newline.
func readFrame(r *bufio.Reader, limit int) ([]byte, error) {
	var long []byte // what did not fit into the reader's buffer
	tooLong := false
	var ids idScanner // of a line that is too long
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong && len(long)+len(part) > limit+1 { // the newline is free
			ids.scan(long)
			tooLong, long = true, nil
		}
		if tooLong {
			ids.scan(part)
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
			return nil, &tooLongError{ids.request()}
		}
		return bytes.TrimRight(append(long, part...), "\r\n"), nil
	}
}
