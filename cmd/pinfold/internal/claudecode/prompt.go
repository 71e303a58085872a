package claudecode

import (
	"bytes"
	"encoding/json"
	"errors"
)

// PromptInput is what the tool of --permission-prompt-tool is called with.
type PromptInput struct {
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
}

// PromptSchema is the schema of it.
const PromptSchema = `{"type":"object","required":["tool_name","input"],"properties":{
	"tool_name":{"type":"string","description":"the tool that is to be called"},
	"input":{"type":"object","description":"its arguments"},
	"tool_use_id":{"type":"string","description":"the call's id"}}}`

// ReadPrompt reads it.
func ReadPrompt(data json.RawMessage) (PromptInput, error) {
	var in PromptInput
	if err := json.Unmarshal(data, &in); err != nil {
		return in, err
	}
	if in.Input = bytes.TrimSpace(in.Input); in.Tool == "" || len(in.Input) == 0 || in.Input[0] != '{' {
		return in, errors.New("tool_name and input are wanted: the tool that is to be called, and its arguments as an object")
	}
	return in, nil
}

// PromptAnswer is the text that answers it: yes with the very arguments, or no
// with the reason.
func PromptAnswer(in PromptInput, allow bool, reason string) (string, error) {
	var answer any = struct {
		Behaviour Behaviour `json:"behavior"`
		Message   string    `json:"message"`
	}{Deny, reason}
	if allow {
		answer = struct {
			Behaviour Behaviour       `json:"behavior"`
			Updated   json.RawMessage `json:"updatedInput"`
		}{Allow, in.Input}
	}
	data, err := json.Marshal(answer)
	return string(data), err
}
