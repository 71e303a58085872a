package skillask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Judge decides about what calls want to do, and asks a person or a manager where the
// rules say so.
type Judge interface {
	access.Checker
	// Note puts on record what the rules refuse anyway, and asks nobody.
	Note(ctx context.Context, r access.Request)
}

// Skills are skills whose refused calls are put on record.
type Skills struct {
	Set   *fileskills.Set
	Judge Judge

	// Elsewhere, if not nil, makes a call that has to be asked for: somebody
	// else does all of it. Then the Set's gate grants nothing.
	Elsewhere func(ctx context.Context, name string, input json.RawMessage) (*fileskills.Result, error)
}

// Call is fileskills.Set's Call.
func (k *Skills) Call(ctx context.Context, name string, input json.RawMessage) (*fileskills.Result, error) {
	res, err := k.Set.Call(ctx, name, input)
	var denied *pathresolver.DeniedError
	switch {
	case !errors.As(err, &denied):
	case denied.Rule != pathresolver.RuleAsk && denied.Path != "":
		k.Judge.Note(ctx, access.Request{
			Action: denied.Op.Action(), Resource: cmp.Or(denied.Place, denied.Path), // what leads to no place is recorded as it is
			Tool: fileskills.Canonical(name), Input: input,
		})
	case denied.Rule == pathresolver.RuleAsk && k.Elsewhere != nil:
		return k.Elsewhere(ctx, name, input)
	}
	return res, err
}
