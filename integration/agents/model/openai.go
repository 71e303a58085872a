package model

import (
	"encoding/json"
	"net/http"
	"strings"
)

// openAI is the Responses API.
type openAI struct{}

func (openAI) read(w http.ResponseWriter, r *http.Request, body []byte) (*turn, bool) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/models"):
		reply(w, object{"models": []object{}})
		return nil, true
	case !strings.HasSuffix(r.URL.Path, "/responses") || r.Method != http.MethodPost:
		return nil, false
	}
	var in struct {
		Stream       bool
		Instructions string
		Tools        []struct{ Name string }
		Input        []struct {
			Type    string
			Role    string
			ID      string `json:"call_id"`
			Output  json.RawMessage
			Content json.RawMessage
		}
	}
	if json.Unmarshal(body, &in) != nil {
		return nil, false
	}
	t := &turn{System: in.Instructions, Stream: in.Stream, Results: map[int]Result{}}
	for _, tool := range in.Tools {
		t.Tools = append(t.Tools, tool.Name)
	}
	for _, item := range in.Input {
		switch item.Type {
		case "function_call_output", "custom_tool_call_output":
			if n, ok := number(item.ID); ok {
				t.Results[n] = Result{Text: texts(item.Output)}
			}
		case "message":
			if item.Role == "developer" {
				t.System += "\n" + texts(item.Content)
			}
		}
	}
	return t, true
}

func (o openAI) call(w http.ResponseWriter, _ *turn, id string, c Call) {
	if c.Input == nil {
		o.answer(w, object{"type": "custom_tool_call", "id": "ctc_" + id, "call_id": id, "name": c.Tool, "input": c.Text, "status": "completed"})
		return
	}
	item := object{"type": "function_call", "id": "fc_" + id, "call_id": id, "name": c.Tool, "arguments": asText(c.Input), "status": "completed"}
	if server, tool, ok := strings.Cut(c.Tool, "."); ok { // of an MCP server
		item["namespace"], item["name"] = server, tool
	}
	o.answer(w, item)
}

func (o openAI) say(w http.ResponseWriter, _ *turn, text string) {
	o.answer(w, object{
		"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
		"content": []object{{"type": "output_text", "text": text, "annotations": []any{}}},
	})
}

func (openAI) answer(w http.ResponseWriter, item object) {
	response := object{"id": "resp_1", "object": "response", "status": "in_progress", "output": []object{}}
	done := object{
		"id": "resp_1", "object": "response", "status": "completed", "output": []object{item},
		"usage": object{"input_tokens": 1, "input_tokens_details": nil, "output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2},
	}
	stream(w,
		object{"type": "response.created", "response": response},
		object{"type": "response.output_item.done", "output_index": 0, "item": item},
		object{"type": "response.completed", "response": done},
	)
}
