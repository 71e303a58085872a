package ops

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// request is one line to the other side: an operation or a batch of one.
type request struct {
	Op
	Batch *Batch `json:"batch,omitempty"`
}

// reply is its answer.
type reply struct {
	Result
	Tally *Tally `json:"tally,omitempty"`
}

// Serve answers operations from r on w until r ends.
func Serve(r io.Reader, w io.Writer, e Executor) error {
	dec, enc := json.NewDecoder(bufio.NewReader(r)), json.NewEncoder(w)
	for {
		var q request
		if err := dec.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var a reply
		if q.Batch != nil {
			t, err := Repeat(e, *q.Batch)
			if err != nil {
				return err
			}
			a.Tally = &t
		} else {
			a.Result = e.Do(q.Op)
		}
		if err := enc.Encode(a); err != nil {
			return err
		}
	}
}

// Client sends operations to a Serve at the other end of a pair of pipes. It
// is for one goroutine.
type Client struct {
	enc     *json.Encoder
	replies chan reply
}

// NewClient speaks over w and r, which stay the caller's: closing w ends the
// other side.
func NewClient(w io.Writer, r io.Reader) *Client {
	c := &Client{enc: json.NewEncoder(w), replies: make(chan reply, 1)}
	go c.receive(r)
	return c
}

var (
	_ Executor = (*Client)(nil)
	_ Repeater = (*Client)(nil)
)

// receive ends with r.
func (c *Client) receive(r io.Reader) {
	defer close(c.replies)
	dec := json.NewDecoder(bufio.NewReader(r))
	for {
		var a reply
		if dec.Decode(&a) != nil {
			return
		}
		c.replies <- a
	}
}

// Do has the other side do op, and blocks where that blocks.
func (c *Client) Do(op Op) Result {
	a, err := c.ask(request{Op: op})
	if err != nil {
		return Failed(nil, err)
	}
	return a.Result
}

// Repeat has the other side do a batch.
func (c *Client) Repeat(b Batch) (Tally, error) {
	a, err := c.ask(request{Batch: &b})
	if err != nil {
		return Tally{}, err
	}
	if a.Tally == nil {
		return Tally{}, errors.New("the inner process gave no tally")
	}
	return *a.Tally, nil
}

func (c *Client) ask(q request) (reply, error) {
	if err := c.enc.Encode(q); err != nil {
		return reply{}, fmt.Errorf("the inner process is gone: %w", err)
	}
	a, ok := <-c.replies
	if !ok {
		return reply{}, errors.New("the inner process is gone")
	}
	return a, nil
}
