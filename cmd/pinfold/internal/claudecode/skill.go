package claudecode

import "encoding/json"

// AsSkill is a call that changes one file as the call of a file skill that makes the
// same change, to the file at place. ok is false where none does.
func AsSkill(tool string, input json.RawMessage, place string) (skill string, args json.RawMessage, ok bool) {
	var in struct {
		Content    *string `json:"content"`
		Old        *string `json:"old_string"`
		New        *string `json:"new_string"`
		ReplaceAll bool    `json:"replace_all"`
	}
	if json.Unmarshal(input, &in) != nil {
		return "", nil, false
	}
	out := map[string]any{"path": place}
	switch {
	case tool == "Write" && in.Content != nil:
		skill, out["content"] = "write_file", *in.Content
	case tool == "Edit" && in.Old != nil && in.New != nil && *in.Old == "": // a new file
		skill, out["content"], out["overwrite"] = "write_file", *in.New, false
	case tool == "Edit" && in.Old != nil && in.New != nil:
		skill, out["old_string"], out["new_string"], out["replace_all"] = "edit_file", *in.Old, *in.New, in.ReplaceAll
	default:
		return "", nil, false
	}
	args, err := json.Marshal(out)
	return skill, args, err == nil
}
