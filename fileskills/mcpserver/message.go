package mcpserver

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// encode is a message as a line. An answer is put together by hand: its result
// is JSON already, and a file's content is not gone through once more.
func encode(msg jsonrpc.Message) ([]byte, error) {
	res, ok := msg.(*jsonrpc.Response)
	if ok && res.Error == nil && bytes.IndexByte(res.Result, '\n') < 0 {
		line := make([]byte, 0, len(res.Result)+64)
		line = append(line, `{"jsonrpc":"2.0","id":`...)
		switch id := res.ID.Raw().(type) {
		case int64:
			line = strconv.AppendInt(line, id, 10)
		default:
			text, err := json.Marshal(id)
			if err != nil {
				return nil, err
			}
			line = append(line, text...)
		}
		line = append(line, `,"result":`...)
		line = append(line, res.Result...)
		return append(line, '}', '\n'), nil
	}
	line, err := jsonrpc.EncodeMessage(msg)
	return append(line, '\n'), err
}

// codeOf is the code for a line that is no message.
func codeOf(line []byte) int {
	if json.Valid(line) {
		return jsonrpc.CodeInvalidRequest
	}
	return jsonrpc.CodeParseError
}

// idOf is the id in a line that is no message, where one can be made out, so
// that whoever waits for the answer gets it. nil where not.
func idOf(line []byte) json.RawMessage {
	var m struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(line, &m) != nil {
		return nil
	}
	switch m.ID.(type) {
	case string, float64:
		id, err := json.Marshal(m.ID)
		if err != nil {
			return nil
		}
		return id
	}
	return nil
}
