package claudecode

import (
	"encoding/json"
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

// The events that are answered: before a tool is called, and when its user would
// be asked.
const (
	PreToolUse        = "PreToolUse"
	PermissionRequest = "PermissionRequest"
)

// ReadHook reads a hook's input. Fields that are not known are left alone: there
// are more with each version.
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
	if in.Event != PreToolUse && in.Event != PermissionRequest {
		return in, fmt.Errorf("event %q: this hook is for PreToolUse and PermissionRequest", in.Event)
	}
	return in, nil
}

// Behaviour is an answer. The zero value is none: Claude Code goes on as it
// would without the hook.
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
