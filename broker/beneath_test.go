package broker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/permission"
)

// A child works in a part of its manager's project, by paths of its own. What the manager
// may approve is asked of the manager's rules about the same files: not of those about
// files of that name in its own project, which would refuse what it may and allow what it
// may not.
func TestChildBeneathItsManager(t *testing.T) {
	w := newWorld(t)
	manager := w.hire(operator, "top", managerDoc+"fs: {ask_write: [sub/lib], protect: [src], hide: [sub/hidden]}\n")
	spec := broker.HireSpec{ID: "worker", Policy: policy(t, workerDoc), OnExcess: permission.Clamp, Cwd: "/project/sub"}
	a, _, err := w.Hire(t.Context(), manager, spec)
	require.NoError(t, err)
	require.Equal(t, "/project/sub", a.Cwd)
	worker := broker.AgentIdentity("worker")

	may := func(place string) bool { return w.Gate(worker).Check(t.Context(), write(place)).Allowed() }
	require.True(t, w.Gate(worker).Check(t.Context(), access.Request{Action: access.FSWrite, Resource: "docs/a", Tool: "write_file"}).Allowed())
	require.False(t, w.Gate(worker).Check(t.Context(), access.Request{Action: access.FSRead, Resource: "hidden/a", Tool: "read_file"}).Allowed(), "its manager does not see sub/hidden")

	r := w.ask(worker, "src/a")
	_, err = w.Approve(t.Context(), manager, r.ID, broker.Answer{Scope: broker.Session})
	require.NoError(t, err, "sub/src is not protected for the manager, src is")
	require.True(t, may("src/a"), "and while it is granted the manager's rules about sub/src count")

	r = w.ask(worker, "lib/a")
	_, err = w.Approve(t.Context(), manager, r.ID, broker.Answer{})
	require.Contains(t, refused(t, "approver_lacks_permission", err), "'top' is itself refused it")

	for _, cwd := range []string{"/", "/project2", "/project/../etc", "/elsewhere/sub"} {
		spec := spec
		spec.ID, spec.Cwd = "other", cwd
		_, _, err := w.Hire(t.Context(), manager, spec)
		refused(t, broker.CodeInvalid, err)
	}
	spec.ID, spec.Cwd = "other", "/project/sub/hidden"
	_, _, err = w.Hire(t.Context(), manager, spec)
	require.Contains(t, refused(t, broker.CodeInvalid, err), "is hidden")
	// A child of the child, once more beneath.
	spec.ID, spec.Cwd = "deeper", "/project/sub/docs"
	spec.Policy = policy(t, managerDoc)
	_, _, err = w.Hire(t.Context(), worker, spec)
	require.Error(t, err, "a sandboxed agent hires nobody")
}

// An agent whose command could not be started gives its id back, with all that was under
// it; one on which others depend stays, and has exited.
func TestWithdraw(t *testing.T) {
	w := newWorld(t)
	manager := w.hire(operator, "top", managerDoc)
	worker := w.hire(manager, "worker", workerDoc)
	r := w.ask(worker, "src/a")
	require.NoError(t, w.Withdraw(t.Context(), "worker", "no such program"))
	_, err := w.Agent(t.Context(), operator, "worker")
	refused(t, broker.CodeNotFound, err)
	r, err = w.Request(t.Context(), operator, r.ID)
	require.NoError(t, err)
	require.Equal(t, broker.Cancelled, r.Status)
	w.hire(operator, "worker", workerDoc) // by another manager, too

	boss := w.hire(operator, "boss", managerDoc)
	w.hire(boss, "kid", workerDoc)
	require.NoError(t, w.Withdraw(t.Context(), "boss", "no such program"))
	a, err := w.Agent(t.Context(), operator, "boss")
	require.NoError(t, err)
	require.Equal(t, broker.Exited, a.State)
	require.Equal(t, 125, a.Exit.Code)
	refused(t, broker.CodeNotFound, w.Withdraw(t.Context(), "nobody", ""))
}
