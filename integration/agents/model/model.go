package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Call is what the model asks of its agent: a tool by the agent's own name, with
// arguments, or with a text for a tool that takes one (Codex' apply_patch).
type Call struct {
	Tool  string
	Input map[string]any
	Text  string
}

// String is the call as a transcript has it.
func (c Call) String() string {
	if c.Input == nil {
		return c.Tool + "\n" + c.Text
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c.Input); err != nil {
		panic(err) // a script is made of maps and strings
	}
	return c.Tool + " " + strings.TrimSpace(b.String())
}

// Result is what the model was told of a call.
type Result struct {
	Text   string
	Failed bool // where the protocol can say so
}

// Farewell is what the model says when its script is over.
const Farewell = "The script is over."

// Server is a model that plays a script.
type Server struct {
	script []Call
	http   *httptest.Server

	mu      sync.Mutex
	results map[int]Result
	system  string
	remarks string
	offered []string
	over    bool
	unknown []string
}

// protocol is how a vendor's clients talk to their model.
type protocol interface {
	// read is a turn that the agent asks for; nil when the request is something
	// else, which was answered, or not, as the result says.
	read(w http.ResponseWriter, r *http.Request, body []byte) (t *turn, known bool)
	// call and say are the two ways to answer a turn.
	call(w http.ResponseWriter, t *turn, id string, c Call)
	say(w http.ResponseWriter, t *turn, text string)
}

// turn is one request for the model's next message, with all that was said before.
type turn struct {
	System  string
	Remarks string // of hooks
	Tools   []string
	Results map[int]Result // by number of the call
	Stream  bool
}

// Anthropic starts a model that is spoken to over the Messages API, until the test ends.
func Anthropic(t testing.TB, script []Call) *Server { return serve(t, anthropic{}, script) }

// OpenAI starts one that is spoken to over the Responses API.
func OpenAI(t testing.TB, script []Call) *Server { return serve(t, openAI{}, script) }

// Gemini starts one that is spoken to over the Gemini API.
func Gemini(t testing.TB, script []Call) *Server { return serve(t, gemini{}, script) }

func serve(t testing.TB, p protocol, script []Call) *Server {
	s := &Server{script: script, results: map[int]Result{}}
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		turn, known := p.read(w, r, body)
		switch {
		case !known:
			s.note(func() { s.unknown = append(s.unknown, r.Method+" "+r.URL.String()) })
			http.Error(w, `{"error":{"type":"not_found_error","message":"not played"}}`, http.StatusNotFound)
		case turn != nil:
			s.next(w, p, turn)
		}
	}))
	t.Cleanup(s.http.Close)
	return s
}

// next answers a turn. How far the script is, the conversation itself tells: a
// request that is sent again gets the same answer.
func (s *Server) next(w http.ResponseWriter, p protocol, t *turn) {
	if !slices.ContainsFunc(s.script, func(c Call) bool { return slices.Contains(t.Tools, c.Tool) }) {
		p.say(w, t, "A task.") // a title, a summary, a greeting
		return
	}
	n := 0
	for n < len(s.script) {
		if _, done := t.Results[n]; !done {
			break
		}
		n++
	}
	s.note(func() {
		s.system, s.remarks, s.offered = t.System, t.Remarks, t.Tools
		for i, r := range t.Results {
			s.results[i] = r
		}
		s.over = s.over || n == len(s.script)
	})
	if n == len(s.script) {
		p.say(w, t, Farewell)
		return
	}
	p.call(w, t, "call_"+strconv.Itoa(n), s.script[n])
}

func (s *Server) note(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// URL is where the model listens, without a slash at its end.
func (s *Server) URL() string { return s.http.URL }

// Results are what the model was told of its calls, in the order of the script. It
// is an error when the agent did not play the script to its end.
func (s *Server) Results() ([]Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		return nil, fmt.Errorf("the agent answered %d of %d calls; it offers %q; not played: %q",
			len(s.results), len(s.script), s.offered, s.unknown)
	}
	results := make([]Result, len(s.script))
	for i := range results {
		results[i] = s.results[i]
	}
	return results, nil
}

// System is what the agent told its model before the conversation.
func (s *Server) System() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.system
}

// Remarks are what hooks told the model beside the results of its calls.
func (s *Server) Remarks() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remarks
}

// Unknown are the requests that the model has no answer for.
func (s *Server) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.unknown)
}

// number is which call of the script an identifier names.
func number(id string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(id, "call_")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil
}

// texts is a text, or the texts of a list of parts.
func texts(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &parts) != nil {
		return string(raw)
	}
	var all []string
	for _, p := range parts {
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n")
}

// object is a JSON object.
type object = map[string]any

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // a script is made of maps and strings
	}
	w.Write(data) //nolint:errcheck // an agent that has left needs no answer
}

// stream sends events as server-sent events; each is named by its type, if it has
// one.
func stream(w http.ResponseWriter, events ...object) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			panic(err) // a script is made of maps and strings
		}
		if kind, ok := e["type"].(string); ok {
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

func asText(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // a script is made of maps and strings
	}
	return string(data)
}
