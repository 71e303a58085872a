package permission

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// long says that the long mode of the property tests is wanted.
var long = os.Getenv("PINFOLD_LONG") != ""

// decode reads a document that must be right.
func decode(t require.TestingT, text string) *Source {
	src, err := Decode("p.yaml", []byte(text))
	require.NoError(t, err, text)
	return src
}

// compile makes a policy of a document that must be right.
func compile(t require.TestingT, text string) *Policy {
	p, err := Compile(decode(t, text), Options{})
	require.NoError(t, err, text)
	return p
}

// preset compiles a preset; write are the caller's write paths.
func preset(t require.TestingT, name string, write ...string) *Policy {
	opt := Options{}
	if len(write) > 0 {
		opt.Caller = &Document{FS: &FS{Write: write}}
	}
	p, err := Preset(name, opt)
	require.NoError(t, err)
	return p
}

// refused decodes a document that must be refused and returns the error.
func refused(t *testing.T, text string) string {
	t.Helper()
	_, err := Decode("p.yaml", []byte(text))
	var de *DocumentError
	require.ErrorAs(t, err, &de, text)
	return err.Error()
}

// file asks about a file.
func file(p *Policy, a access.Action, place string) access.Decision {
	return p.Check(context.Background(), access.Request{Action: a, Resource: place})
}

// family is a registry: child -> parent.
type family map[string]string

func (f family) Parent(id string) string { return f[id] }

// send asks for a message from the agent me, through nexus_send.
func send(p *Policy, r Registry, to string) access.Decision {
	return Enforcer{p, r}.Check(context.Background(), access.Request{Principal: "me", Action: access.MsgSend, Resource: to, Tool: "nexus_send"})
}

func lines(list ...string) string { return strings.Join(list, "\n") + "\n" }

// layerNames are the names of a chain's documents, outermost first.
func layerNames(p *Policy) (names []string) {
	for _, l := range p.layers() {
		names = append(names, l.name)
	}
	return names
}

// encodeJSON writes a document as JSON, indented.
func encodeJSON(d Document) []byte {
	out, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		panic(err)
	}
	return append(out, '\n')
}

// places is a resolver as who holds places asks it.
func places(r *pathresolver.Resolver) interface {
	Decide(op access.Op, place string, kind fs.FileMode) *pathresolver.DeniedError
	Verdict(place string) resolved.Verdict
} {
	return resolved.Of(r).(interface {
		Decide(op access.Op, place string, kind fs.FileMode) *pathresolver.DeniedError
		Verdict(place string) resolved.Verdict
	})
}
