package model

import (
	"encoding/json"
	"net/http"
	"strings"
)

// gemini is the Gemini API, with its calls named by identifiers, which the agent
// repeats in its answers.
type gemini struct{}

type geminiPart struct {
	Text     string
	Response *struct {
		ID       string
		Response struct {
			Output json.RawMessage
			Error  json.RawMessage
		}
	} `json:"functionResponse"`
}

func (gemini) read(w http.ResponseWriter, r *http.Request, body []byte) (*turn, bool) {
	_, method, _ := strings.Cut(r.URL.Path, ":")
	switch method {
	case "countTokens":
		reply(w, object{"totalTokens": 1})
		return nil, true
	case "generateContent", "streamGenerateContent":
	default:
		return nil, false
	}
	var in struct {
		System struct {
			Parts []geminiPart
		} `json:"systemInstruction"`
		Tools []struct {
			Functions []struct{ Name string } `json:"functionDeclarations"`
		}
		Contents []struct{ Parts []geminiPart }
	}
	if json.Unmarshal(body, &in) != nil {
		return nil, false
	}
	t := &turn{Stream: method == "streamGenerateContent", Results: map[int]Result{}}
	for _, p := range in.System.Parts {
		t.System += p.Text
	}
	for _, tool := range in.Tools {
		for _, f := range tool.Functions {
			t.Tools = append(t.Tools, f.Name)
		}
	}
	for i, c := range in.Contents {
		for _, p := range c.Parts {
			if p.Response == nil {
				if i == 0 { // where it puts its context files
					t.System += "\n" + p.Text
				}
				continue
			}
			if n, ok := number(p.Response.ID); ok {
				failed := p.Response.Response.Error
				t.Results[n] = Result{Text: texts(append(p.Response.Response.Output, failed...)), Failed: failed != nil}
			}
		}
	}
	return t, true
}

func (g gemini) call(w http.ResponseWriter, t *turn, id string, c Call) {
	g.answer(w, t, object{"functionCall": object{"id": id, "name": c.Tool, "args": c.Input}})
}

func (g gemini) say(w http.ResponseWriter, t *turn, text string) {
	g.answer(w, t, object{"text": text})
}

func (gemini) answer(w http.ResponseWriter, t *turn, part object) {
	message := object{
		"candidates":    []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []object{part}}}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
		"modelVersion":  "gemini-played",
	}
	if t.Stream {
		stream(w, message)
	} else {
		reply(w, message)
	}
}
