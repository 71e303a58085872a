// Anthropic runs an agent on the Messages API that may read the project and
// write beneath out/.
//
//	ANTHROPIC_API_KEY=... go run ./anthropic MODEL DIR "Write a summary of the code to out/summary.md"
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/anthropics/anthropic-sdk-go"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: anthropic MODEL DIR TASK")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "anthropic:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, model, dir, task string) error {
	r, err := pathresolver.New(pathresolver.Config{Root: dir, WritePaths: []string{"out"}, Hide: []string{"**/.env"}})
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // nothing is owed on it
	skills, err := fileskills.New(fileskills.Config{Resolver: r})
	if err != nil {
		return err
	}
	tools, err := toolParams(skills)
	if err != nil {
		return err
	}
	client := anthropic.NewClient()
	messages := []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(task))}
	for {
		answer, err := client.Messages.New(ctx, anthropic.MessageNewParams{
			Model: model, MaxTokens: 8192, Messages: messages, Tools: tools,
		})
		if err != nil {
			return err
		}
		messages = append(messages, answer.ToParam())
		var results []anthropic.ContentBlockParamUnion
		for _, block := range answer.Content {
			switch b := block.AsAny().(type) {
			case anthropic.TextBlock:
				fmt.Println(b.Text)
			case anthropic.ToolUseBlock:
				res, err := skills.Call(ctx, b.Name, b.Input)
				if err != nil { // a refusal or a failure that the model can mend
					results = append(results, anthropic.NewToolResultBlock(b.ID, err.Error(), true))
					continue
				}
				results = append(results, anthropic.NewToolResultBlock(b.ID, res.Text, false))
			}
		}
		if len(results) == 0 {
			return nil
		}
		messages = append(messages, anthropic.NewUserMessage(results...))
	}
}

// toolParams are the offered skills in the types of the SDK.
func toolParams(skills *fileskills.Set) ([]anthropic.ToolUnionParam, error) {
	var tools []anthropic.ToolUnionParam
	for _, t := range skills.AnthropicTools() {
		data, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		p := &anthropic.ToolParam{}
		if err := json.Unmarshal(data, p); err != nil {
			return nil, err
		}
		tools = append(tools, anthropic.ToolUnionParam{OfTool: p})
	}
	return tools, nil
}
