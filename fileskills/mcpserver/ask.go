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
	// ErrCannotAsk is that the client has no elicitation.
	ErrCannotAsk = errors.New("this client cannot ask")
	// ErrDeclined is that the user said no, or closed the question.
	ErrDeclined = errors.New("the user was asked and did not allow it")

	// errAskedFirst ends a call whose client asks its user between two calls: see
	// rounds.
	errAskedFirst = errors.New("the user has to be asked first")
)

// yesOrNo is a form without fields: accept and decline are the answer.
var yesOrNo = json.RawMessage(`{"type":"object","properties":{}}`)

// Ask puts a question to the person in front of the client that a call came
// from, by elicitation, for as long as that person takes or ctx lasts. It
// returns nil for a yes and nothing else. ctx is that of Options.Call, of a
// Tool's Call, or of a gate; what is done before it may be done more than once,
// since a client of protocol version 2026-07-28 or later asks its user between
// two calls, and whatever comes after an error of Ask's is not sent. The question is shown as it is: whoever asks
// escapes what a model wrote.
func Ask(ctx context.Context, question string) error {
	session, ok := ctx.Value(sessionKey{}).(*mcp.ServerSession)
	if !ok {
		return ErrNobody
	}
	if r, ok := ctx.Value(roundKey{}).(*round); ok {
		if !canElicit(session) {
			return ErrCannotAsk
		}
		return r.ask(question)
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
