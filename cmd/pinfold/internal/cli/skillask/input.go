package skillask

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// maxAskedInput is how large the arguments of a call may be that go into a
// request as they are, in bytes: less than the broker takes.
const maxAskedInput = 128 << 10

// maxDigested is how many bytes of a text a digest may replace.
const maxDigested = 1 << 10

// Input is the arguments of a call, as they are shown to the one who is asked. If they
// are large, long texts are replaced by their size and digest. An answer is bound to
// the whole texts all the same, and nothing else of the arguments is lost.
func Input(input json.RawMessage) []byte {
	if len(input) <= maxAskedInput {
		return input
	}
	var args map[string]any
	if json.Unmarshal(input, &args) == nil {
		for key, value := range args {
			args[key] = digested(value)
		}
		if short, err := json.Marshal(args); err == nil && len(short) <= maxAskedInput {
			return short
		}
	}
	whole, err := json.Marshal(digestOf(input))
	if err != nil {
		return nil // cannot be: two plain fields
	}
	return whole
}

// digest stands for a text that is too long to be asked about.
type digest struct {
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func digestOf(data []byte) digest {
	sum := sha256.Sum256(data)
	return digest{len(data), hex.EncodeToString(sum[:])}
}

func digested(value any) any {
	if text, ok := value.(string); ok && len(text) > maxDigested {
		return digestOf([]byte(text))
	}
	if _, ok := value.(string); ok {
		return value
	}
	if data, err := json.Marshal(value); err == nil && len(data) > maxDigested {
		return digestOf(data)
	}
	return value
}
