package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// codeBusy refuses a request because too many are in flight. It lies in the
// range that JSON-RPC leaves to servers.
const codeBusy = -32000

// conn is a connection of newline-delimited messages. It differs from the
// SDK's in what a broken peer does to it: a line that is no message is
// answered and skipped, the number of requests in flight is bounded, and those
// in flight are answered after the peer has closed its end.
type conn struct {
	frames chan frame
	closed chan struct{}
	close  sync.Once

	writing sync.Mutex // guards writes to out; held while the peer does not read
	out     io.Writer

	mu       sync.Mutex         // guards what follows; never held while writing
	inFlight map[jsonrpc.ID]int // the size of each
	held     int                // all of them
	idle     chan struct{}      // closed when the last request was answered; nil until somebody waits
}

// frame is a line, or why there is none.
type frame struct {
	line []byte
	err  error
}

func newConn(in io.Reader, out io.Writer) *conn {
	c := &conn{
		frames:   make(chan frame),
		closed:   make(chan struct{}),
		out:      out,
		inFlight: map[jsonrpc.ID]int{},
	}
	// A Read of a pipe cannot be interrupted, so it has a goroutine of its own.
	go c.readFrames(bufio.NewReaderSize(in, 64<<10))
	return c
}

func (c *conn) readFrames(r *bufio.Reader) {
	for {
		line, err := readFrame(r, maxMessage)
		select {
		case c.frames <- frame{line, err}:
		case <-c.closed:
			return
		}
		if err != nil && !errors.As(err, new(*tooLongError)) {
			return
		}
	}
}

// Read returns the next message that is one. After the end of input it waits
// for requests in flight, since the SDK answers none after an error of Read.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		var f frame
		select {
		case f = <-c.frames:
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		var tooLong *tooLongError
		switch {
		case errors.As(f.err, &tooLong):
			c.refuse(tooLong.id, jsonrpc.CodeInvalidRequest, f.err.Error()+": at most "+strconv.Itoa(maxMessage)+" bytes")
			continue
		case f.err != nil:
			c.finish()
			return nil, io.EOF
		case len(bytes.TrimSpace(f.line)) == 0:
			continue
		}
		msg, err := decode(f.line)
		if err != nil {
			c.refuse(idOf(f.line), codeOf(f.line), err.Error())
			continue
		}
		if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() && !c.begin(req.ID, len(f.line)) {
			c.refuse(idOf(f.line), codeBusy, "too many requests at once: at most "+strconv.Itoa(maxInFlight)+", of "+strconv.Itoa(maxHeld)+" bytes")
			continue
		}
		return msg, nil
	}
}

// begin notes a request in flight. It is false when there are too many.
func (c *conn) begin(id jsonrpc.ID, size int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.inFlight); n >= maxInFlight || n > 0 && c.held+size > maxHeld {
		return false
	}
	c.held += size - c.inFlight[id] // an id that is used twice is one entry
	c.inFlight[id] = size
	return true
}

// end notes that a request was answered.
func (c *conn) end(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held -= c.inFlight[id]
	delete(c.inFlight, id)
	if len(c.inFlight) == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// finish waits until nothing is in flight, for as long as the drain lasts.
func (c *conn) finish() {
	c.mu.Lock()
	if len(c.inFlight) == 0 {
		c.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	c.idle = idle
	c.mu.Unlock()
	select {
	case <-idle:
	case <-c.closed:
	case <-time.After(drain):
	}
}

// Write sends a message as one line.
func (c *conn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	line, err := encode(msg)
	if err == nil {
		err = c.send(line)
	}
	if res, ok := msg.(*jsonrpc.Response); ok {
		c.end(res.ID)
	}
	return err
}

func (c *conn) send(line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(line)
	return err
}

// Close makes Read return. It closes neither in nor out.
func (c *conn) Close() error {
	c.close.Do(func() { close(c.closed) })
	return nil
}

// refuse answers a line that goes no further. It waits for the peer to read:
// one that sends without reading is not read any longer.
func (c *conn) refuse(id json.RawMessage, code int, why string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	line, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: int64(code), Message: why}})
	if err == nil {
		_ = c.send(append(line, '\n')) // a peer that is gone is noticed by Write
	}
}
