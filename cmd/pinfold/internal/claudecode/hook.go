package claudecode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxInput bounds what is read of a hook's input, in bytes.
const maxInput = 64 << 20

// HookInput is what a hook reads from standard input, as far as it matters.
type HookInput struct {
	Event     string          `json:"hook_event_name"`
	Cwd       string          `json:"cwd"`
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"tool_input"`
	SessionID string          `json:"session_id"`
	ToolUseID string          `json:"tool_use_id"`
}

// The events that are answered: before a tool is called, when its user would be
// asked, and when a call has failed.
const (
	PreToolUse         = "PreToolUse"
	PermissionRequest  = "PermissionRequest"
	PostToolUseFailure = "PostToolUseFailure"
)

// ReadHook reads a hook's input. Unknown fields are ignored, since each version has
// more of them.
func ReadHook(r io.Reader) (HookInput, error) {
	var in HookInput
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	switch {
	case err != nil:
		return in, err
	case len(data) > maxInput:
		return in, fmt.Errorf("the hook's input has more than %d bytes", maxInput)
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return in, fmt.Errorf("the hook's input is not what Claude Code sends: %w", err)
	}
	if in.Event != PreToolUse && in.Event != PermissionRequest && in.Event != PostToolUseFailure {
		return in, fmt.Errorf("event %q: this hook is for PreToolUse, PermissionRequest and PostToolUseFailure", in.Event)
	}
	return in, nil
}

// Behaviour is an answer. Its zero value is no answer: Claude Code goes on as it would
// without the hook.
type Behaviour string

// The answers.
const (
	Allow Behaviour = "allow"
	Deny  Behaviour = "deny"
	Ask   Behaviour = "ask" // the user, by Claude Code's own dialogue
)

// HookOutput is what a hook writes for an answer; nil where it writes nothing.
func HookOutput(event string, b Behaviour, reason string) any {
	switch {
	case b == "", event == PermissionRequest && b == Ask: // the user is being asked
		return nil
	case event == PermissionRequest:
		decision := map[string]any{"behavior": b}
		if b == Deny {
			decision["message"] = reason
		}
		return map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": event, "decision": decision}}
	}
	return map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": event, "permissionDecision": b, "permissionDecisionReason": reason,
	}}
}

// FailureOutput is what a hook writes to tell a model why its call has failed.
func FailureOutput(why string) any {
	return map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": PostToolUseFailure, "additionalContext": why}}
}

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
