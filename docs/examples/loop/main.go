// Loop is an agent without an SDK: a model is whatever answers, on standard
// input, each line on standard output with a call of a skill as JSON.
//
//	go run ./loop DIR
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: loop DIR")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "loop:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, model io.Reader, out io.Writer) error {
	r, err := pathresolver.New(pathresolver.Config{Root: dir, WritePaths: []string{"out"}})
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // nothing is owed on it
	skills, err := fileskills.New(fileskills.Config{Resolver: r})
	if err != nil {
		return err
	}
	for _, s := range skills.Skills() {
		fmt.Fprintf(out, "tool %s: %s\n", s.Name, s.Description)
	}
	lines := bufio.NewScanner(model)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var call struct {
			Name  string
			Input json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
			fmt.Fprintln(out, "error:", err)
			continue
		}
		res, err := skills.Call(ctx, call.Name, call.Input)
		if err != nil {
			fmt.Fprintln(out, "error:", err)
			continue
		}
		fmt.Fprintln(out, "result:", res.Text)
	}
	return lines.Err()
}
