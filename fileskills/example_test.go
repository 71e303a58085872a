package fileskills_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// ToolCall is what a model asks for.
type ToolCall struct {
	Name  string
	Input json.RawMessage
}

// agent is the loop of the README.
func agent(ctx context.Context, dir string, model func(last string, tools []fileskills.Skill) *ToolCall) error {
	r, err := pathresolver.New(pathresolver.Config{Root: dir, WritePaths: []string{"out"}, Hide: []string{"**/.env"}})
	if err != nil {
		return err // a *ConfigError with every violation, each with a code
	}
	defer r.Close()
	skills, err := fileskills.New(fileskills.Config{Resolver: r})
	if err != nil {
		return err
	}
	last := ""
	for call := model(last, skills.Skills()); call != nil; call = model(last, skills.Skills()) {
		res, err := skills.Call(ctx, call.Name, call.Input) // Input is the JSON that the model gave
		if err != nil {
			last = err.Error() // says what is wrong and what would be allowed: for the model
			continue
		}
		last = res.Text
	}
	return nil
}

func Example() {
	dir, err := os.MkdirTemp("", "project-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	script := []ToolCall{
		{"write_file", json.RawMessage(`{"path": "out/a.txt", "content": "one\ntwo\n"}`)},
		{"edit_file", json.RawMessage(`{"path": "out/a.txt", "old_string": "two", "new_string": "2"}`)},
		{"write_file", json.RawMessage(`{"path": "go.mod", "content": "module evil\n"}`)},
	}
	err = agent(context.Background(), dir, func(last string, _ []fileskills.Skill) *ToolCall {
		fmt.Println(last)
		if len(script) == 0 {
			return nil
		}
		call := script[0]
		script = script[1:]
		return &call
	})
	data, _ := os.ReadFile(filepath.Join(dir, "out", "a.txt"))
	fmt.Printf("%v %q\n", err, data)
	// Output:
	// Created out/a.txt: 2 lines, 8 bytes.
	// Edited out/a.txt: 1 replacement, 1 line added, 1 removed.
	// Path 'go.mod' is outside the allowed sandbox for writing; writable: out
	// write_file may not write it: no write path covers it. Reading is allowed.
	// To allow it, add the write path 'go.mod'
	// <nil> "one\n2\n"
}
