//go:build linux

package brokerhttp

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// document is docs/schema/broker.openapi.yaml.
type document struct {
	t       *testing.T
	schemas *jsonschema.Compiler
	paths   map[string]map[string]any
	bodies  map[string]any // components.requestBodies
	seen    map[string]bool
}

func openDocument(t *testing.T) *document {
	t.Helper()
	text, err := os.ReadFile("../../docs/schema/broker.openapi.yaml")
	require.NoError(t, err)
	data, err := yaml.YAMLToJSON(text)
	require.NoError(t, err)
	whole, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("file:///api.json", whole))
	var parts struct {
		Paths      map[string]map[string]any
		Components struct{ RequestBodies map[string]any }
	}
	require.NoError(t, json.Unmarshal(data, &parts))
	return &document{t: t, schemas: c, paths: parts.Paths, bodies: parts.Components.RequestBodies, seen: map[string]bool{}}
}

// schemaOf is the schema that a part of the document names, however deep.
func (d *document) schemaOf(part any) *jsonschema.Schema {
	d.t.Helper()
	m, _ := part.(map[string]any)
	if ref, ok := m["$ref"].(string); ok && strings.Contains(ref, "/requestBodies/") {
		m = d.bodies[path.Base(ref)].(map[string]any)
	}
	content, _ := m["content"].(map[string]any)
	media, ok := content["application/json"].(map[string]any)
	require.True(d.t, ok, "%v has no JSON", part)
	ref := media["schema"].(map[string]any)["$ref"].(string)
	s, err := d.schemas.Compile("file:///api.json" + ref)
	require.NoError(d.t, err)
	return s
}

func (d *document) valid(s *jsonschema.Schema, text string) {
	d.t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(d.t, err, text)
	require.NoError(d.t, s.Validate(v), text)
}

// operation is what the document says of a route.
func (d *document) operation(method, path string) map[string]any {
	d.t.Helper()
	op, ok := d.paths[path][strings.ToLower(method)].(map[string]any)
	require.True(d.t, ok, "%s %s is not in the document", method, path)
	d.seen[method+" "+path] = true
	return op
}

// call makes a request that the document allows, and holds the answer to it.
func (d *document) call(s *served, c *Client, method, path, id, query, body string) string {
	d.t.Helper()
	op := d.operation(method, path)
	if body != "" {
		d.valid(d.schemaOf(op["requestBody"]), body)
	}
	status, answer := s.raw(c, method, strings.Replace(path, "{id}", id, 1)+query, body, nil)
	require.Equal(d.t, 200, status, "%s %s: %s", method, path, answer)
	d.valid(d.schemaOf(op["responses"].(map[string]any)["200"]), answer)
	return answer
}

// TestDocumentAndHandlersAgree holds that every route is documented, that
// nothing else is, and that each answers as the document says.
func TestDocumentAndHandlersAgree(t *testing.T) {
	d := openDocument(t)
	served := map[string]bool{}
	for _, rt := range routes {
		served[rt.method+" "+rt.path] = true
		d.operation(rt.method, rt.path)
	}
	for path, operations := range d.paths {
		for method := range operations {
			if method != "parameters" {
				require.True(t, served[strings.ToUpper(method)+" "+path], "%s %s is documented and not served", method, path)
			}
		}
	}
	clear(d.seen)

	s := serve(t, private(t), Options{Skill: func(_ context.Context, k Skill) (SkillResult, error) {
		return SkillResult{Text: k.Agent.ID + " calls " + k.Name, Meta: []byte(`{"path":"a"}`), Parts: []SkillPart{{MIMEType: "image/png", Data: []byte("x")}}}, nil
	}})
	op, cwd := s.as(""), t.TempDir()
	quoted := func(v any) string {
		data, err := json.Marshal(v)
		require.NoError(t, err)
		return string(data)
	}
	field := func(text, name string) string {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &m))
		v, _ := m[name].(string)
		return v
	}
	d.call(s, op, "POST", "/v1/agents", "", "", `{"id":"boss","preset":"trusted","cwd":`+quoted(cwd)+`,"model":"m","task":"t"}`)
	root := s.as("boss")
	d.call(s, root, "POST", "/v1/agents", "", "", `{"id":"kid","tools":["read_file","write_file","rename","nexus_send"],"policy":{"name":"p.yaml","text":`+quoted(asking)+`}}`)
	kid := s.as("kid")
	d.call(s, root, "GET", "/v1/agents", "", "", "")
	d.call(s, root, "GET", "/v1/agents/{id}", "kid", "", "")
	d.call(s, op, "GET", "/v1/agents/{id}/cross", "kid", "", "")
	d.call(s, op, "POST", "/v1/agents/{id}/cross", "kid", "", `{"change":"allow","value":"agent:boss:*"}`)

	require.Contains(t, d.call(s, kid, "GET", "/v1/agents/{id}/explain", "kid", "?action=fs.write&resource=src/a", ""), `"effect":"ask"`)
	require.Contains(t, d.call(s, root, "GET", "/v1/agents/{id}/policy", "kid", "", ""), `"chain":[{`)
	d.call(s, op, "POST", "/v1/agents/{id}/sessions", "kid", "", `{"name":"whatsapp:7","route":"+49"}`)
	d.call(s, op, "POST", "/v1/agents/{id}/sessions", "kid", "", `{"name":"whatsapp:7","remove":true}`)
	d.call(s, op, "POST", "/v1/agents/{id}/sessions", "boss", "", `{"name":"irc","route":"#pinfold"}`)

	require.Contains(t, d.call(s, kid, "POST", "/v1/skills/{id}", "read_file", "", `{"input":{"path":"a"}}`), "kid calls read_file")

	require.Contains(t, d.call(s, kid, "GET", "/v1/own", "", "", ""), "kid")
	require.JSONEq(t, `{"recorded":1}`, d.call(s, kid, "POST", "/v1/audit/denials", "", "", `{"items":[{"action":"fs.write","resource":"etc","code":"outside","rule":"r","reason":"w","times":2}],"left_out":1,"unjudged":1}`))
	d.call(s, root, "GET", "/v1/agents/{id}/status", "kid", "", "")
	for _, query := range []string{"", "?wait=1ms"} {
		require.Contains(t, d.call(s, kid, "POST", "/v1/decide", "", query, `{"action":"fs.move","resource":"src/d","also":[{"action":"fs.move","resource":"src/e"}],"tool":"rename","input":"{}","reason":"why"}`), `"ask"`)
	}

	ask := func(file string) string {
		return field(d.call(s, kid, "POST", "/v1/requests", "", "", `{"action":"fs.write","resource":"src/`+file+`","reason":"why"}`), "id")
	}
	first, second := ask("a"), ask("b")
	d.call(s, root, "GET", "/v1/requests", "", "", "")
	d.call(s, kid, "GET", "/v1/requests/{id}", first, "?wait=1ms", "")
	d.call(s, root, "GET", "/v1/requests/{id}/proposal", first, "", "")
	d.call(s, root, "POST", "/approve/{id}", first, "", `{"scope":"subtree","until":"2999-01-02T03:04:05Z"}`)
	d.call(s, root, "POST", "/deny/{id}", second, "", `{"reason":"no","caller_id":"boss"}`)
	d.call(s, kid, "GET", "/v1/requests/{id}", second, "", "")
	d.call(s, kid, "GET", "/v1/grants", "", "", "")
	d.call(s, root, "POST", "/v1/grants/{id}/revoke", first, "", "")

	d.call(s, kid, "POST", "/v1/messages", "", "", `{"to":"agent:boss:main","content":"hello","verb":"send"}`)
	d.call(s, kid, "POST", "/v1/messages", "", "", `{"to":"agent:boss:main","content":"may I?","verb":"ask"}`)
	d.call(s, root, "GET", "/v1/status", "", "", "")
	d.call(s, op, "GET", "/v1/status", "", "", "")
	var box List[struct{ ID string }]
	require.NoError(t, json.Unmarshal([]byte(d.call(s, root, "GET", "/v1/mailbox", "", "?wait=10s", "")), &box))
	require.NotEmpty(t, box.Items)
	asked := box.Items[len(box.Items)-1].ID
	require.JSONEq(t, `{"answer":null}`, d.call(s, kid, "GET", "/v1/messages/{id}/answer", asked, "?wait=1ms", ""))
	d.call(s, root, "POST", "/v1/messages", "", "", `{"to":"agent:kid:main","content":"you may","verb":"answer","reply_to":`+quoted(asked)+`}`)
	require.Contains(t, d.call(s, kid, "GET", "/v1/messages/{id}/answer", asked, "", ""), "you may")
	d.call(s, root, "POST", "/v1/mailbox/ack", "", "", `{"ids":[`+quoted(box.Items[0].ID)+`]}`)

	d.call(s, root, "POST", "/v1/agents/{id}/interrupt", "kid", "", "")
	d.call(s, root, "POST", "/v1/agents/{id}/cancel", "kid", "", "")
	d.call(s, root, "GET", "/v1/agents/{id}/await", "kid", "?wait=1ms", "")
	d.call(s, kid, "POST", "/v1/agents/{id}/exit", "kid", "", `{"code":3,"output":"bye"}`)
	d.call(s, op, "POST", "/v1/agents/{id}/fire", "boss", "", "")
	d.call(s, op, "GET", "/v1/audit", "", "?after=1&limit=5", "")
	d.call(s, op, "GET", "/v1/audit/verify", "", "", "")

	status, refused := s.raw(op, "GET", "/v1/agents/nobody", "", nil)
	require.Equal(t, 404, status)
	e, err := d.schemas.Compile("file:///api.json#/components/schemas/Error")
	require.NoError(t, err)
	d.valid(e, refused)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(refused, `"message"`, `"massage"`, 1)))
	require.NoError(t, err)
	require.Error(t, e.Validate(v), "the schema refuses what it does not know")

	for key := range served {
		require.True(t, d.seen[key] || key == "GET /v1/events", "%s was not called", key)
	}
}
