package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Why Ask got no yes. A context that has ended is its own error.
var (
	// ErrNobody is that the call does not come through a Server.
	ErrNobody = errors.New("there is nobody to ask")
	// ErrCannotAsk is that the client has no elicitation, or speaks protocol
	// version 2026-07-28 or later, where a server asks nothing while it works.
	ErrCannotAsk = errors.New("this client cannot ask")
	// ErrDeclined is that the user said no, or closed the question.
	ErrDeclined = errors.New("the user was asked and did not allow it")
)

// yesOrNo is a form without fields: accept and decline are the answer.
var yesOrNo = json.RawMessage(`{"type":"object","properties":{}}`)

// Ask puts a question to the person in front of the client that a call came
// from, by elicitation, for as long as that person takes or ctx lasts. It
// returns nil for a yes and nothing else. ctx is that of Options.Call, of a
// Tool's Call, or of a gate. The question is shown as it is: whoever asks
// escapes what a model wrote.
func Ask(ctx context.Context, question string) error {
	session, ok := ctx.Value(sessionKey{}).(*mcp.ServerSession)
	if !ok {
		return ErrNobody
	}
	res, err := session.Elicit(ctx, &mcp.ElicitParams{Message: question, RequestedSchema: yesOrNo})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return ErrCannotAsk
	case res.Action != "accept":
		return ErrDeclined
	}
	return nil
}

// sessionKey is where a call keeps the session that it came by.
type sessionKey struct{}
