package broker

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/permission"
)

// NewToken makes a token that is the agent's identity over a network, in place
// of the one that it had. Only the operator may. The store has only its hash.
func (b *Broker) NewToken(ctx context.Context, who Identity, id string) (string, error) {
	if !who.operator {
		return "", refuse(CodeOperatorOnly, "only the operator may give a token")
	}
	token := rand.Text()
	err := b.update(ctx, func(t *tx) error {
		a, err := t.agent(id)
		if err != nil {
			return err
		}
		if a.State.Ended() {
			return noSession(id)
		}
		a.TokenHash = tokenHash(token)
		if err := t.UpdateAgent(a, a.State); err != nil {
			return err
		}
		t.record(Record{Principal: who.String(), Action: "token", Resource: id, Effect: access.Allow, Code: permission.CodeAllowed})
		t.Notify(agentTopic(id))
		return nil
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// ByToken is the identity that a token stands for, for a transport: a refusal
// where there is none. It is looked up by its hash, so the time that it takes
// tells nothing of a token.
func (b *Broker) ByToken(ctx context.Context, token string) (Identity, error) {
	if token == "" {
		return Identity{}, nobody()
	}
	var who Identity
	err := b.view(ctx, func(tx ReadTx) error {
		list, err := tx.Agents(AgentFilter{TokenHash: tokenHash(token), States: []State{Working, Idle}, Limit: 1})
		if err == nil && len(list) == 1 {
			who = Identity{agent: list[0].ID}
		}
		return err
	})
	if err == nil && who == (Identity{}) {
		err = nobody()
	}
	return who, err
}

func tokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
