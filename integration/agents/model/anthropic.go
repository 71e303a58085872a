package model

import (
	"encoding/json"
	"net/http"
	"strings"
)

// anthropic is the Messages API.
type anthropic struct{}

func (anthropic) read(w http.ResponseWriter, r *http.Request, body []byte) (*turn, bool) {
	switch {
	case r.Method == http.MethodHead: // whether somebody is there
		return nil, true
	case strings.HasSuffix(r.URL.Path, "/messages/count_tokens"):
		reply(w, object{"input_tokens": 1})
		return nil, true
	case !strings.HasSuffix(r.URL.Path, "/messages"):
		return nil, false
	}
	var in struct {
		Stream   bool
		System   json.RawMessage
		Tools    []struct{ Name string }
		Messages []struct{ Content json.RawMessage }
	}
	if json.Unmarshal(body, &in) != nil {
		return nil, false
	}
	t := &turn{System: texts(in.System), Stream: in.Stream, Results: map[int]Result{}}
	for _, tool := range in.Tools {
		t.Tools = append(t.Tools, tool.Name)
	}
	for _, m := range in.Messages {
		var parts []struct {
			Type    string
			ID      string `json:"tool_use_id"`
			Content json.RawMessage
			Failed  bool `json:"is_error"`
		}
		_ = json.Unmarshal(m.Content, &parts) // or it is a text
		for paragraph := range strings.SplitSeq(texts(m.Content), "\n\n") {
			if strings.Contains(paragraph, " hook additional context: ") {
				t.Remarks += paragraph + "\n\n"
			}
		}
		for _, p := range parts {
			if n, ok := number(p.ID); ok && p.Type == "tool_result" {
				t.Results[n] = Result{Text: texts(p.Content), Failed: p.Failed}
			}
		}
	}
	return t, true
}

func (a anthropic) call(w http.ResponseWriter, t *turn, id string, c Call) {
	a.answer(w, t, "tool_use", object{"type": "tool_use", "id": id, "name": c.Tool, "input": c.Input},
		object{"type": "tool_use", "id": id, "name": c.Tool, "input": object{}},
		object{"type": "input_json_delta", "partial_json": asText(c.Input)})
}

func (a anthropic) say(w http.ResponseWriter, t *turn, text string) {
	a.answer(w, t, "end_turn", object{"type": "text", "text": text},
		object{"type": "text", "text": ""}, object{"type": "text_delta", "text": text})
}

// answer is a message of one block, whole or as its beginning and the rest.
func (anthropic) answer(w http.ResponseWriter, t *turn, reason string, whole, beginning, rest object) {
	usage := object{"input_tokens": 1, "output_tokens": 1}
	message := object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-played", "content": []object{whole},
		"stop_reason": reason, "stop_sequence": nil, "usage": usage,
	}
	if !t.Stream {
		reply(w, message)
		return
	}
	message["content"], message["stop_reason"] = []object{}, nil
	stream(w,
		object{"type": "message_start", "message": message},
		object{"type": "content_block_start", "index": 0, "content_block": beginning},
		object{"type": "content_block_delta", "index": 0, "delta": rest},
		object{"type": "content_block_stop", "index": 0},
		object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": usage},
		object{"type": "message_stop"},
	)
}
