//go:build linux

package proposal_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/proposal"
)

// D19: agents that look at what takes long do not keep the operator from
// reading what is to be answered.
func TestAgentsKeepNobodyWaiting(t *testing.T) {
	w := newWorld(t)
	id := w.asked(access.FSWrite, "src/a.go", "Write", `{"file_path":"src/a.go","content":"x"}`)
	began, release := make(chan struct{}), make(chan struct{})
	var looks atomic.Int32
	const slow = 2 // as many as are made at a time
	m := proposal.New(w.b, func(string) error {
		if looks.Add(1) <= slow {
			began <- struct{}{}
			<-release
		}
		return nil
	})
	var all sync.WaitGroup
	for range slow {
		all.Go(func() {
			_, err := m.Of(t.Context(), broker.AgentIdentity("worker"), id)
			assert.NoError(t, err)
		})
		<-began
	}
	p, err := m.Of(t.Context(), broker.OperatorIdentity(), id)
	require.NoError(t, err)
	require.Contains(t, p.Diff, "+x\n")
	close(release)
	all.Wait()
}

func (w *world) asked(action access.Action, resource, tool, input string) string {
	w.Helper()
	r, err := w.b.Ask(w.Context(), broker.AgentIdentity("worker"), access.Request{Action: action, Resource: resource, Tool: tool, MayBlock: true, Input: []byte(input)})
	require.NoError(w, err)
	return r.ID
}
