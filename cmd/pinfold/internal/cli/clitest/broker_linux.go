package clitest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/proposal"
	"github.com/pinfold-dev/pinfold/permission"
)

// InTime is how long anything may take that a test waits for.
const InTime = 2 * time.Minute

// ServedBroker is a broker in this process with one worker, who asks for src,
// and its operator's socket.
func ServedBroker(t *testing.T) (b *broker.Broker, socket, project string) {
	t.Helper()
	state, err := os.MkdirTemp("/tmp", "pf") // a socket's name is short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(state)) })
	dir := filepath.Join(state, "pinfold", "broker") // where it is looked for, if state is the user's
	require.NoError(t, os.MkdirAll(dir, 0o700))
	store, err := sqlitestore.Open(t.Context(), filepath.Join(dir, "broker.db"))
	require.NoError(t, err)
	b, err = broker.New(t.Context(), broker.Options{Store: store})
	require.NoError(t, err)
	srv, err := brokerhttp.New(t.Context(), b, brokerhttp.Options{Dir: dir, Propose: proposal.New(b, nil).Of})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, srv.Close())
		b.Close()
		require.NoError(t, store.Close())
	})
	project, err = filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	Tree{"src/a.go": "package a\n\nconst version = 1\n"}.Make(t, project)
	src, err := permission.Decode("worker.yaml", []byte("version: 1\nextends: sandboxed\nfs: {ask_write: [src]}\n"))
	require.NoError(t, err)
	policy, err := permission.Compile(src, permission.Options{Root: project})
	require.NoError(t, err)
	_, _, err = b.Hire(t.Context(), broker.OperatorIdentity(), broker.HireSpec{ID: "kid", Cwd: project, Policy: policy, Task: "raise the version"})
	require.NoError(t, err)
	return b, brokerhttp.OperatorSocket(dir), project
}

// Asks is the worker's request to make an edit.
func Asks(t *testing.T, b *broker.Broker, to, reason string) broker.Request {
	t.Helper()
	r, err := b.Ask(t.Context(), broker.AgentIdentity("kid"), access.Request{Action: access.FSWrite, Resource: "src/a.go", Tool: "edit_file", MayBlock: true,
		Input: []byte(`{"path":"src/a.go","old_string":"version = 1","new_string":"` + to + `"}`), Reason: reason,
	})
	require.NoError(t, err)
	return r
}

// Ended is a request once it has been answered.
func Ended(t *testing.T, b *broker.Broker, id string) broker.Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), InTime)
	defer cancel()
	r, err := b.Wait(ctx, broker.AgentIdentity("kid"), id)
	require.NoError(t, err)
	return r
}
