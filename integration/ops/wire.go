package ops

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Serve answers operations from r on w until r ends.
func Serve(r io.Reader, w io.Writer, e Executor) error {
	dec, enc := json.NewDecoder(bufio.NewReader(r)), json.NewEncoder(w)
	for {
		var op Op
		if err := dec.Decode(&op); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := enc.Encode(e.Do(op)); err != nil {
			return err
		}
	}
}

// Client sends operations to a Serve at the other end of a pair of pipes. It
// is for one goroutine.
type Client struct {
	enc     *json.Encoder
	replies chan Result
}

// NewClient speaks over w and r, which stay the caller's: closing w ends the
// other side.
func NewClient(w io.Writer, r io.Reader) *Client {
	c := &Client{enc: json.NewEncoder(w), replies: make(chan Result, 1)}
	go c.receive(r)
	return c
}

var _ Executor = (*Client)(nil)

// receive ends with r.
func (c *Client) receive(r io.Reader) {
	defer close(c.replies)
	dec := json.NewDecoder(bufio.NewReader(r))
	for {
		var res Result
		if dec.Decode(&res) != nil {
			return
		}
		c.replies <- res
	}
}

// Do has the other side do op, and blocks where that blocks.
func (c *Client) Do(op Op) Result {
	if err := c.enc.Encode(op); err != nil {
		return Failed(nil, fmt.Errorf("the inner process is gone: %w", err))
	}
	res, ok := <-c.replies
	if !ok {
		return Failed(nil, errors.New("the inner process is gone"))
	}
	return res
}
