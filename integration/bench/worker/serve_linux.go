package worker

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
)

// Request asks for one row, done once.
type Request struct {
	Row  string `json:"row"`
	Text string `json:"text,omitempty"` // what "probe" waits for
}

// Reply is what came of it.
type Reply struct {
	NS   float64 `json:"ns"`             // per operation
	Text string  `json:"text,omitempty"` // what "mounts" saw
	Err  string  `json:"err,omitempty"`
}

// Job is what a row works with.
type Job struct {
	Scale Scale
	Top   string // absolute; the tree
	Dir   string // absolute; this environment's own directory in the write path
	Text  string
	Timer
	reply string
}

// Serve answers requests until in ends. dir, relative to the working
// directory, is where this worker may write.
func Serve(in io.Reader, out io.Writer, dir string, scale Scale) error {
	debug.SetGCPercent(800) // the rows make little garbage, and are short
	top, err := os.Getwd()
	if err != nil {
		return err
	}
	requests, replies := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q Request
		if err := requests.Decode(&q); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("worker: request: %w", err)
		}
		j := &Job{Scale: scale, Top: top, Dir: filepath.Join(top, dir), Text: q.Text}
		if err := replies.Encode(j.answer(q.Row)); err != nil {
			return fmt.Errorf("worker: reply: %w", err)
		}
	}
}

func (j *Job) answer(name string) Reply {
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return Reply{Err: "unknown row " + name}
	}
	ops, err := rows[i].do(j)
	if err != nil {
		return Reply{Err: err.Error()}
	}
	return Reply{NS: float64(j.spent.Nanoseconds()) / float64(max(ops, 1)), Text: j.reply}
}

// discard takes away what a row made. What will not go is met by the next
// round of the row, which then fails.
func discard(path string) { _ = os.RemoveAll(path) }
