// Openai runs an agent on the Responses API that may read the project and
// write beneath out/.
//
//	OPENAI_API_KEY=... go run ./openai MODEL DIR "Write a summary of the code to out/summary.md"
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: openai MODEL DIR TASK")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "openai:", err)
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
	client := openai.NewClient()
	params := responses.ResponseNewParams{
		Model: model, Tools: tools,
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(task)},
	}
	for {
		answer, err := client.Responses.New(ctx, params)
		if err != nil {
			return err
		}
		if text := answer.OutputText(); text != "" {
			fmt.Println(text)
		}
		var results responses.ResponseInputParam
		for _, item := range answer.Output {
			if item.Type != "function_call" {
				continue
			}
			call := item.AsFunctionCall()
			var output string
			if res, err := skills.Call(ctx, call.Name, json.RawMessage(call.Arguments)); err != nil {
				output = "Error: " + err.Error() // a refusal or a failure that the model can mend
			} else {
				output = res.Text
			}
			results = append(results, responses.ResponseInputItemUnionParam{
				OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
					CallID: openai.String(call.CallID),
					Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: openai.String(output)},
				},
			})
		}
		if len(results) == 0 {
			return nil
		}
		params.PreviousResponseID = openai.String(answer.ID)
		params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: results}
	}
}

// toolParams are the offered skills in the types of the SDK, for strict mode.
func toolParams(skills *fileskills.Set) ([]responses.ToolUnionParam, error) {
	var tools []responses.ToolUnionParam
	for _, t := range skills.OpenAITools(true) {
		p := &responses.FunctionToolParam{Name: t.Name, Description: openai.String(t.Description), Strict: openai.Bool(t.Strict)}
		if err := json.Unmarshal(t.Parameters, &p.Parameters); err != nil {
			return nil, err
		}
		tools = append(tools, responses.ToolUnionParam{OfFunction: p})
	}
	return tools, nil
}
