package proposal

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	strict "github.com/go-json-experiment/json"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/fileskills"
)

// skillCall is a skill with its arguments.
type skillCall struct {
	skill string
	input json.RawMessage
}

// skills are those of ours whose change is shown: they write content.
var skills = []string{"write_file", "edit_file", "edit_file_batch", "append_file", "regex_replace", "copy_file"}

// callOf is what a request would do, in terms of skills; several are done one
// after the other. The note says why there is none, where that is worth saying.
func callOf(r broker.Request) (calls []skillCall, note string) {
	switch r.Action {
	case access.FSWrite, access.FSCreate, access.ToolUse:
	default:
		return nil, "" // the action says it all
	}
	switch {
	case r.Tool == "" || r.Input == "{}" && r.Action != access.ToolUse:
		return nil, "what will be written is not known before it is written"
	case r.Action == access.ToolUse && r.Input == "{}":
		return nil, ""
	case slices.Contains(skills, r.Tool):
		return []skillCall{{r.Tool, json.RawMessage(r.Input)}}, ""
	}
	calls, known := peerCalls(r.Tool, []byte(r.Input))
	switch {
	case !known && r.Action == access.ToolUse:
		return nil, ""
	case !known:
		return nil, "no difference can be made for this tool: its arguments say what it does"
	case len(calls) == 0:
		return nil, "the arguments are not what this tool takes"
	}
	return calls, ""
}

// peerCalls are the calls of other programs' tools, whose arguments are
// documented, in terms of ours. https://code.claude.com/docs/en/hooks
func peerCalls(tool string, input []byte) (calls []skillCall, known bool) {
	type change struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
		All bool   `json:"replace_all"`
	}
	var in struct {
		change
		Path    string   `json:"file_path"`
		Content string   `json:"content"`
		Edits   []change `json:"edits"`
	}
	switch tool {
	case "Write", "Edit", "MultiEdit":
	default:
		return nil, false
	}
	// Keys are exact, and none stands twice: what is shown is what the tool reads.
	if strict.Unmarshal(input, &in) != nil || in.Path == "" {
		return nil, true
	}
	if tool == "Write" || tool == "Edit" && in.Old == "" { // Edit makes a file from nothing
		content := in.Content
		if tool == "Edit" {
			content = in.New
		}
		return []skillCall{{"write_file", jsonOf(map[string]any{"path": in.Path, "content": content})}}, true
	}
	if tool == "Edit" {
		in.Edits = []change{in.change}
	}
	if len(in.Edits) > maxEdits {
		return nil, true
	}
	for _, e := range in.Edits {
		calls = append(calls, skillCall{"edit_file", jsonOf(map[string]any{
			"path": in.Path, "old_string": e.Old, "new_string": e.New, "replace_all": e.All,
		})})
	}
	return calls, true
}

// maxEdits bounds the edits of one call.
const maxEdits = 1000

func jsonOf(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return nil // strings and bools always encode
	}
	return data
}

// run calls the skills over the overlay. Its error is for the note.
func (o *overlay) run(ctx context.Context, calls []skillCall) error {
	set, err := fileskills.New(fileskills.Config{FS: o})
	if err != nil {
		return err
	}
	for _, c := range calls {
		_, err := set.Call(ctx, c.skill, c.input)
		switch {
		case o.elsewhere != "":
			return errors.New("the arguments name another place than the one that is asked for: '" + o.elsewhere + "'")
		case o.unread:
			return errors.New("the agent may read what it needs for this only after asking, so no difference is shown")
		case o.tooLarge:
			return errTooLarge
		case ctx.Err() != nil:
			return errors.New("the difference could not be made in time")
		case err != nil:
			return errors.New("as the files are now, the call would fail: " + err.Error())
		}
	}
	return nil
}
