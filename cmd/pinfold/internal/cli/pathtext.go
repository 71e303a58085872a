package cli

import (
	"encoding/json"
	"unicode/utf8"
)

// PathText is a path or a glob in JSON: a string, or, as no byte may get lost,
// {"base64": "..."} where it is not UTF-8.
type PathText string

func (n PathText) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return json.Marshal(string(n))
	}
	return json.Marshal(map[string][]byte{"base64": []byte(n)})
}

func (n *PathText) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var bytes map[string][]byte
		err := json.Unmarshal(data, &bytes)
		*n = PathText(bytes["base64"])
		return err
	}
	return json.Unmarshal(data, (*string)(n))
}

// Convert is a slice of the other of the two types.
func Convert[To, From ~string](list []From) []To {
	out := make([]To, len(list))
	for i, s := range list {
		out[i] = To(s)
	}
	return out
}
