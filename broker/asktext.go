package broker

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/pinfold-dev/pinfold/access"
)

// text is the message that a manager reads. The tool and its input are the
// agent's words; what the answer lets it do is the access. So where the input
// does not say plainly what that is, a line after it does: a path in the input
// may be a link, stand behind the cut, or have been made up.
func (r *Request) text(a Agent) string {
	tool := r.Tool
	if tool == "" {
		tool = string(r.Action)
	}
	input, access := r.Input, ""
	switch {
	case input == "{}" && len(r.Also) == 0:
		input = accessJSON(r.Action, r.Resource)
	case !r.isPlain():
		all := []string{accessJSON(r.Action, r.Resource)}
		for _, also := range r.Also {
			all = append(all, accessJSON(also.Action, also.Resource))
		}
		list := strings.Join(all, ", ")
		access = "Access: " + shown(list, len(list)*len(`\U0010ffff`)) + "\n" // never cut
	}
	return "[Permission Request from " + a.ID + "]\n" +
		"Tool: " + shown(tool, maxShown) + "\n" +
		"Input: " + shown(input, maxShown) + "\n" +
		access +
		"Request ID: " + r.ID + "\n\n" +
		"Respond with:\n" +
		"  pinfold approve " + r.ID + "\n" +
		"  pinfold deny " + r.ID + " --reason \"...\""
}

// isPlain reports whether whoever reads the tool and its input knows what they
// ask for: that tool, or to write at the path that stands there, and nothing
// else.
func (r *Request) isPlain() bool {
	if r.Action == access.ToolUse && r.Resource == r.Tool && len(r.Also) == 0 {
		return utf8.RuneCountInString(r.Tool) <= maxShown
	}
	if r.Action != access.FSWrite && r.Action != access.FSCreate || r.Tool == "" || len(r.Also) > 0 || utf8.RuneCountInString(r.Input) > maxShown {
		return false
	}
	var input struct {
		Path string `json:"path"`
	}
	// A doubled key is refused here, so the path is the one that is shown.
	return json.Unmarshal([]byte(r.Input), &input) == nil && input.Path == r.Resource
}

func accessJSON(action access.Action, resource string) string {
	return compactJSON(jsonOf(struct {
		Action   string `json:"action"`
		Resource string `json:"resource"`
	}{string(action), resource}))
}

// roomForInput bounds what the arguments of an agent's pending requests take
// together: whoever may answer them is sent all.
func (t *tx) roomForInput(a Agent, input string) error {
	if len(input) > maxInput {
		return refuse(CodeTooLarge, "the arguments are larger than %d bytes", maxInput)
	}
	pending, err := t.Requests(RequestFilter{AgentID: a.ID, Statuses: []Status{Pending}})
	if err != nil {
		return err
	}
	total := len(input)
	for _, r := range pending {
		total += len(r.Input)
	}
	if total > maxInputs {
		return refuse(CodeTooMany, "the arguments of the requests that are pending take %d bytes already: wait until one is answered", total-len(input))
	}
	return nil
}
