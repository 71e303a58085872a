package mcpserver_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

const ping = `{"jsonrpc":"2.0","id":"alive","method":"ping"}`

// broken are lines that are no request, and the id and code of the answer.
var broken = []struct {
	name, line string
	id         any
	code       int
}{
	{"no JSON", "hello?", nil, -32700},
	{"half an object", `{"jsonrpc":"2.0","id":1,"method":"pi`, nil, -32700},
	{"NUL bytes", "\x00\x00\x00", nil, -32700},
	{"a number", "123", nil, -32600},
	{"a batch", `[` + ping + `]`, nil, -32600},
	{"another version", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, 7.0, -32600},
	{"a method that is a number", `{"jsonrpc":"2.0","id":"x","method":5}`, "x", -32600},
	{"nesting beyond all bounds", `{"jsonrpc":"2.0","id":9,"method":"ping","params":` + strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000) + `}`, nil, -32700},
	{"deep nesting", `{"jsonrpc":"2.0","id":9,"method":"ping","params":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`, 9.0, -32602},
}

// T04
func TestBrokenLinesAreAnsweredAndTheSessionGoesOn(t *testing.T) {
	p := newPeer(t, newSet(t, nil, nil), mcpserver.Options{})
	p.hello("test")
	for _, b := range broken {
		p.send(b.line)
		a := p.next()
		require.Equal(t, b.id, a.ID, b.name)
		require.NotNil(t, a.Error, b.name)
		require.Equal(t, b.code, a.Error.Code, b.name)
		p.send(ping)
		require.Nil(t, p.next().Error, "after %s", b.name)
	}
	p.send("", "\r", ping+"\r")
	require.Nil(t, p.next().Error, "blank lines are nothing")
}

// The SDK's own transport ends the session at the first of them.
func TestBrokenLinesEndASessionOfTheSDK(t *testing.T) {
	in, to, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	from, out, err := os.Pipe()
	require.NoError(t, err)
	defer from.Close()
	ended := make(chan error, 1)
	bare := mcp.NewServer(&mcp.Implementation{Name: "bare"}, nil)
	go func() { ended <- bare.Run(t.Context(), &mcp.IOTransport{Reader: in, Writer: out}) }()
	_, err = to.WriteString(broken[0].line + "\n")
	require.NoError(t, err)
	select {
	case err := <-ended:
		require.Error(t, err)
	case <-time.After(patience):
		t.Fatal("it lives on: our own transport is not needed any more")
	}
	require.NoError(t, to.Close())
}

// A request that is too large is answered under its own id, wherever that stands:
// else whoever made it waits for ever. It is never kept whole.
func TestALineThatIsTooLongIsAnsweredUnderItsID(t *testing.T) {
	p := newPeer(t, newSet(t, nil, nil), mcpserver.Options{})
	p.hello("test")
	big := strings.Repeat("x", 33<<20)
	for _, c := range []struct {
		name, line string
		id         any
	}{
		{"before it", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"content":"` + big + `"}}`, 7.0},
		{"behind it", `{"method":"tools/call","params":{"id":"no","list":[{"id":1},"id",2],"content":"\"id\":3,` + big + `\\"},"id" : "a\"b","jsonrpc":"2.0"}`, `a"b`},
		{"a number at the end", `{"method":"` + big + `","id":-5}`, -5.0},
		{"the last of several", `{"id":1,"method":"` + big + `","id":2}`, 2.0},
		{"none", `{"jsonrpc":"2.0","method":"` + big + `"}`, nil},
		{"null", `{"method":"x","params":"` + big + `","id":null}`, nil},
		{"an object", `{"method":"x","params":"` + big + `","id":{"id":1}}`, nil},
		{"longer than any", `{"method":"x","id":"` + big + `"}`, nil},
		{"of an answer, which is none of ours", `{"jsonrpc":"2.0","id":7,"result":"` + big + `"}`, nil},
		{"a batch", `[{"id":1,"method":"x"},"id",2,"method","` + big + `"]`, nil},
		{"no JSON", `"id":4,"method":` + big, nil},
	} {
		go p.send(c.line, ping)
		a := p.next()
		require.Equal(t, c.id, a.ID, c.name)
		require.NotNil(t, a.Error, c.name)
		require.Equal(t, -32600, a.Error.Code, c.name)
		require.Contains(t, a.Error.Message, "too long: at most 33554432 bytes", c.name)
		require.Equal(t, "alive", p.next().ID, c.name)
	}
}

func TestTheEndOfInputEndsTheSession(t *testing.T) {
	for name, last := range map[string]string{"nothing": "", "half a request": `{"jsonrpc":"2.0","id":1,"me`} {
		p := newPeer(t, newSet(t, nil, nil), mcpserver.Options{})
		p.hello("test")
		_, err := p.to.WriteString(last)
		require.NoError(t, err)
		require.NoError(t, p.to.Close())
		require.NoError(t, p.wait(), name)
	}
}

// A shell pipeline closes its end before the answers are there.
func TestRequestsBeforeTheEndAreAnswered(t *testing.T) {
	p := newPeer(t, newSet(t, map[string]string{"a.txt": "hello"}, nil), mcpserver.Options{})
	p.hello("test")
	p.send(toolCall(1, "file_info", map[string]any{"path": "a.txt"}), ping)
	require.NoError(t, p.to.Close())
	ids := []any{p.next().ID, p.next().ID}
	require.ElementsMatch(t, []any{1.0, "alive"}, ids)
	require.NoError(t, p.wait())
}

func TestAPeerThatIsGoneEndsTheSession(t *testing.T) {
	in, to, err := os.Pipe()
	require.NoError(t, err)
	from, out, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, from.Close())
	ended := make(chan error, 1)
	go func() {
		ended <- mcpserver.New(newSet(t, nil, nil), mcpserver.Options{}).ServeStdio(t.Context(), in, out)
	}()
	_, err = to.WriteString(ping + "\n")
	require.NoError(t, err)
	select {
	case err := <-ended:
		require.Error(t, err)
	case <-time.After(patience):
		t.Fatal("the server does not end")
	}
	require.NoError(t, to.Close())
}

func TestCallsEndWithTheServer(t *testing.T) {
	gate := make(parked)
	p := newPeer(t, newSet(t, map[string]string{"a.txt": "hello"}, gate), mcpserver.Options{})
	p.hello("test")
	p.send(toolCall(1, "read_file", map[string]any{"path": "a.txt"}))
	<-gate
	start := time.Now()
	p.cancel()
	require.NoError(t, p.wait())
	require.Less(t, time.Since(start), drain, "it did not wait for the drain to pass")
}

func TestACallCanBeCancelled(t *testing.T) {
	gate := make(parked)
	p := newPeer(t, newSet(t, map[string]string{"a.txt": "hello"}, gate), mcpserver.Options{})
	p.hello("test")
	p.send(toolCall(1, "read_file", map[string]any{"path": "a.txt"}))
	<-gate
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	r := resultOf(t, p.next())
	require.True(t, r.IsError)
	require.Equal(t, "cancelled", r.Meta[mcpserver.ErrorKey]["code"])
}

func TestTooManyRequestsAtOnceAreRefused(t *testing.T) {
	const most = 64
	gate := make(parked, most+1)
	p := newPeer(t, newSet(t, map[string]string{"a.txt": "hello"}, gate), mcpserver.Options{})
	p.hello("test")
	for i := range most + 1 {
		p.send(toolCall(i, "read_file", map[string]any{"path": "a.txt"}))
	}
	a := p.next()
	require.InDelta(t, most, a.ID, 1, "the greeting may still count")
	require.NotNil(t, a.Error)
	require.Equal(t, -32000, a.Error.Code)
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`)
	require.Equal(t, 0.0, p.next().ID, "it is read on")
	p.send(ping)
	require.Equal(t, "alive", p.next().ID, "and there is room again")
}

// T04
func TestLargeRequestsAtOnceAreRefused(t *testing.T) {
	const fit = 4
	gate := make(parked, fit+1)
	p := newPeer(t, newSet(t, nil, gate), mcpserver.Options{})
	p.hello("test")
	text := strings.Repeat("x", 30<<20)
	for i := range fit + 1 {
		p.send(toolCall(i, "write_file", map[string]any{"path": "out/a", "content": text}))
	}
	a := p.next()
	require.Equal(t, float64(fit), a.ID)
	require.NotNil(t, a.Error)
	require.Equal(t, -32000, a.Error.Code)
	p.send(ping)
	require.Equal(t, "alive", p.next().ID, "a small one is taken")
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`)
	require.Equal(t, 0.0, p.next().ID)
	p.send(toolCall(9, "write_file", map[string]any{"path": "out/a", "content": text}))
	for range fit + 1 { // the last of them is the new one
		<-gate
	}
}

// T04
func TestBadArgumentsAreToolErrors(t *testing.T) {
	p := newPeer(t, newSet(t, map[string]string{"a.txt": "hello"}, nil), mcpserver.Options{})
	p.hello("test")
	for name, args := range map[string]string{
		"none":              `null`,
		"an array":          `[]`,
		"a string":          `"a.txt"`,
		"wrong type":        `{"path":5}`,
		"wrong nested type": `{"path":{"path":"a.txt"}}`,
		"missing":           `{}`,
		"extra":             `{"path":"a.txt","sudo":true}`,
		"twice":             `{"path":"a.txt","path":"b.txt"}`,
		"other case":        `{"Path":"a.txt"}`,
		"invalid UTF-8":     "{\"path\":\"a\xff.txt\"}",
		"NUL":               `{"path":"a\u0000.txt"}`,
		"nested deeply":     `{"path":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`,
		"10 MiB":            `{"path":"` + strings.Repeat("x", 10<<20) + `"}`,
	} {
		go p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"file_info","arguments":%s}}`, args))
		a := p.next()
		r := resultOf(t, a)
		require.True(t, r.IsError, name)
		require.NotEmpty(t, r.Meta[mcpserver.ErrorKey]["code"], name)
		require.Less(t, len(a.Result), 64<<10, "%s: it is not echoed whole", name)
	}
	p.send(toolCall(2, "file_info", map[string]any{"path": "a.txt"}))
	require.False(t, resultOf(t, p.next()).IsError)
}

// A model that remembers a tool from elsewhere is told why it is not there.
func TestAToolThatIsNotOfferedIsRefusedWithAReason(t *testing.T) {
	r, err := pathresolver.New(pathresolver.Config{Root: t.TempDir()})
	require.NoError(t, err)
	defer r.Close()
	set, err := fileskills.New(fileskills.Config{Resolver: r})
	require.NoError(t, err)
	p := newPeer(t, set, mcpserver.Options{})
	p.hello("test")
	p.send(toolCall(1, "write_file", map[string]any{"path": "a.txt", "content": "x"}))
	res := resultOf(t, p.next())
	require.True(t, res.IsError)
	require.Equal(t, "write_not_allowed", res.Meta[mcpserver.ErrorKey]["code"])
	p.send(toolCall(2, "search_text", map[string]any{"pattern": "x"}))
	require.False(t, resultOf(t, p.next()).IsError, "an alias works and is not listed")
}

func TestAnUnknownToolIsAProtocolError(t *testing.T) {
	p := newPeer(t, newSet(t, nil, nil), mcpserver.Options{})
	p.hello("test")
	p.send(toolCall(1, "sudo", map[string]any{}))
	a := p.next()
	require.NotNil(t, a.Error)
	require.Equal(t, -32602, a.Error.Code)
}
