package fileskills

import (
	"context"
	"encoding/json"
)

// Gate is asked before a skill touches anything: once for every Use of the
// call, in the order of the arguments; the first refusal ends the call. It can
// only narrow: what it allows, the FS still may refuse. It may block (somebody
// is asked) and must return when ctx is done.
//
// A search is asked about once, at the path it begins at, and not for each
// file: what must not be found beneath it is for the FS to hide, as
// pathresolver.Config.Hide does.
type Gate interface {
	Check(ctx context.Context, r Request) Decision
}

// Request is one question to the gate. Everything in it comes from the call;
// none of it says who calls: that is the gate's to know.
type Request struct {
	Skill string
	Use   Use
	Input json.RawMessage // the whole input, as given
}

// Decision is the gate's answer. The zero value refuses.
type Decision struct {
	Allow  bool
	Code   Code   // of a refusal; "" is permission_denied
	Reason string // of a refusal: one or more lines for the model

	// Unconfirmed says of a refusal that no rule or policy is behind it: it
	// took somebody's yes, which was not given. The model is then told so, and
	// not that the path is outside the sandbox. Reason is a clause like "the
	// user was asked and did not allow it".
	Unconfirmed bool
}
