package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// wire is a message as it is sent.
type wire struct {
	Version string         `json:"jsonrpc"`
	ID      any            `json:"id"`
	Method  *string        `json:"method"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   *jsonrpc.Error `json:"error"`
}

// Names are matched by their letters' case. What is wrong with a string, or
// with a name that comes twice, is left to who reads the arguments: there it is
// a result that a model can mend.
var wireOptions = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// decode makes a message of a line. (The SDK's own decoder takes two buffers
// of 32 KiB for each, which was most of what a call allocates.)
func decode(line []byte) (jsonrpc.Message, error) {
	var m wire
	if err := jsonv2.Unmarshal(line, &m, wireOptions); err != nil {
		return nil, err
	}
	if m.Version != "2.0" {
		return nil, fmt.Errorf("jsonrpc is %q, not \"2.0\"", m.Version)
	}
	id, err := jsonrpc.MakeID(m.ID)
	switch {
	case err != nil:
		return nil, err
	case m.Method != nil:
		return &jsonrpc.Request{ID: id, Method: *m.Method, Params: json.RawMessage(m.Params)}, nil
	case !id.IsValid():
		return nil, errors.New("neither a method nor an id")
	}
	res := &jsonrpc.Response{ID: id, Result: json.RawMessage(m.Result)}
	if m.Error != nil { // an error that is nil, not a nil pointer in one
		res.Error = m.Error
	}
	return res, nil
}

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
