package integration

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/broker/pgstore"
	"github.com/pinfold-dev/pinfold/internal/pgtest"
)

// brokerProcess is a running `pinfold serve`.
type brokerProcess struct {
	t   *testing.T
	dir string
	cmd *exec.Cmd
}

// startBroker starts pinfold serve in a directory of its own, with further
// arguments, and returns when it answers.
func startBroker(t *testing.T, args ...string) *brokerProcess {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "pf") // short, for the names of sockets
	require.NoError(t, err)
	p := &brokerProcess{t: t, dir: dir, cmd: exec.Command(pinfold, append([]string{"serve", "--state-dir", dir}, args...)...)}
	p.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "PINFOLD_SOCKET=", "PINFOLD_URL=")
	out, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
			require.NoError(t, p.cmd.Wait())
		}
		require.NoError(t, os.RemoveAll(dir))
	})
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "pinfold: serving ")
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return p
}

// kill ends it as kill -9 does.
func (p *brokerProcess) kill() {
	require.NoError(p.t, p.cmd.Process.Kill())
	require.Error(p.t, p.cmd.Wait())
}

// as is a client of an agent, or of the operator for "".
func (p *brokerProcess) as(id string) *brokerhttp.Client {
	p.t.Helper()
	socket := brokerhttp.OperatorSocket(p.dir)
	if id != "" {
		socket = brokerhttp.AgentSocket(p.dir, id)
	}
	c, err := brokerhttp.NewClient(brokerhttp.Endpoint{Socket: socket})
	require.NoError(p.t, err)
	p.t.Cleanup(c.Close)
	return c
}

// postgresURL is a DSN of pgtest as a URL.
func postgresURL(dsn string) string {
	u, q := url.URL{Scheme: "postgres", Path: "/postgres"}, url.Values{}
	for word := range strings.FieldsSeq(dsn) {
		if name, value, _ := strings.Cut(word, "="); name != "dbname" {
			q.Set(name, value)
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// askSrc is what a worker of these tests may ask for.
func askSrc(n int) brokerhttp.DecideBody {
	return brokerhttp.DecideBody{Action: access.FSWrite, Resource: fmt.Sprintf("src/%03d", n), Reason: "it is to be"}
}

const askingForSrc = "version: 1\nextends: sandboxed\nfs: {write: [docs], ask_write: [src]}\n"

// TestBrokersActAsOne: three processes on one PostgreSQL (D17). What waits on
// one is answered on another; a third joins and one is killed in between:
// nothing is lost, and nothing is doubled.
func TestBrokersActAsOne(t *testing.T) {
	dsn := pgtest.Database(t)
	store, err := pgstore.Open(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	one := startBroker(t, "--store", postgresURL(dsn))
	_, err = one.as("").Hire(t.Context(), brokerhttp.HireBody{ID: "boss", Preset: "trusted", Cwd: t.TempDir()})
	require.NoError(t, err)
	for _, id := range []string{"worker", "second"} {
		_, err = one.as("").Hire(t.Context(), brokerhttp.HireBody{ID: id, Parent: "boss", Policy: &brokerhttp.Text{Name: "p.yaml", Text: askingForSrc}})
		require.NoError(t, err)
	}
	two := startBroker(t, "--store", postgresURL(dsn))
	answeredElsewhere(t, store, one.as("worker"), two.as("boss"))
	oneIsKilled(t, store, dsn, one, two)
}

// answeredElsewhere measures how long an answer takes from one broker to who
// waits on another.
func answeredElsewhere(t *testing.T, store broker.Store, worker, boss *brokerhttp.Client) {
	rounds := 40
	if os.Getenv("PINFOLD_LONG") == "1" {
		rounds = 200
	}
	var took []time.Duration
	for i := range rounds {
		r, err := worker.Ask(t.Context(), askSrc(i))
		require.NoError(t, err)
		waiting := waitFor(t.Context(), worker, r.ID)
		require.Eventually(t, func() bool { return waits(t, store, "worker") == 1 }, time.Minute, time.Millisecond)
		began := time.Now()
		_, err = boss.Approve(t.Context(), r.ID, brokerhttp.ApproveBody{})
		require.NoError(t, err)
		require.Equal(t, broker.Approved, answerOf(t, waiting).Status)
		took = append(took, time.Since(began))
		require.Eventually(t, func() bool { return waits(t, store, "worker") == 0 }, time.Minute, time.Millisecond)
	}
	slices.Sort(took)
	t.Logf("from an approval on one broker to who waits on another: median %v, 99th percentile %v of %d", took[rounds/2], took[rounds*99/100], rounds)
}

// oneIsKilled answers many requests that wait on two brokers, while a third
// joins and the first is killed.
func oneIsKilled(t *testing.T, store broker.Store, dsn string, one, two *brokerProcess) {
	const requests = 30
	onOne, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	var asked []string
	waiting := map[string]<-chan waited{}
	for i := range requests {
		from, ctx := one.as("second"), onOne
		if i%2 == 1 {
			from, ctx = two.as("second"), t.Context()
		}
		r, err := from.Ask(t.Context(), askSrc(i))
		require.NoError(t, err)
		asked = append(asked, r.ID)
		waiting[r.ID] = waitFor(ctx, from, r.ID)
	}
	require.Eventually(t, func() bool { return waits(t, store, "second") == requests }, time.Minute, time.Millisecond)

	bosses := []*brokerhttp.Client{two.as("boss")}
	var three *brokerProcess
	for i, id := range asked {
		switch i {
		case requests / 3:
			three = startBroker(t, "--store", postgresURL(dsn))
			bosses = append(bosses, three.as("boss"))
		case requests * 2 / 3:
			one.kill()
			hangUp() // who waited there is to wait elsewhere
		}
		var err error
		if boss := bosses[i%len(bosses)]; i%3 == 0 {
			_, err = boss.Deny(t.Context(), id, brokerhttp.DenyBody{Reason: "not now"})
		} else {
			_, err = boss.Approve(t.Context(), id, brokerhttp.ApproveBody{})
		}
		require.NoError(t, err)
	}
	for i, id := range asked {
		got, fromOne := <-waiting[id], i%2 == 0
		if got.err != nil { // it waited on the one that was killed: by its id it waits on another
			require.True(t, fromOne, "%d: %v", i, got.err)
			got = <-waitFor(t.Context(), three.as("second"), id)
		}
		require.NoError(t, got.err)
		want := broker.Approved
		if i%3 == 0 {
			want = broker.Denied
			require.Equal(t, "not now", got.r.Denial())
		}
		require.Equal(t, want, got.r.Status)
	}
	onceEach(t, three.as("boss"), three.as(""), asked)
}

// onceEach holds that every request was told once, answered once, and recorded
// once, in a chain that is whole.
func onceEach(t *testing.T, boss, operator *brokerhttp.Client, asked []string) {
	told, answers := map[string]int{}, map[string]int{}
	for {
		box, err := boss.Mailbox(t.Context(), false)
		require.NoError(t, err)
		if len(box) == 0 {
			break
		}
		for _, m := range box {
			_, rest, _ := strings.Cut(m.Content, "Request ID: ")
			id, _, _ := strings.Cut(rest, "\n")
			told[id]++
		}
	}
	require.NoError(t, operator.Audit(t.Context(), 0, false, func(r broker.Record) error {
		if r.Action == "approve" || r.Action == "deny" {
			answers[r.RequestID]++
		}
		return nil
	}))
	for _, id := range asked {
		require.Equal(t, 1, told[id], "told %s", id)
		require.Equal(t, 1, answers[id], "answered %s", id)
	}
	v, err := operator.AuditVerify(t.Context(), "")
	require.NoError(t, err)
	require.True(t, v.OK, v.Problem)
}

// waited is how a wait ended.
type waited struct {
	r   broker.Request
	err error
}

func waitFor(ctx context.Context, c *brokerhttp.Client, id string) <-chan waited {
	ch := make(chan waited, 1)
	go func() {
		r, err := c.Wait(ctx, id)
		ch <- waited{r, err}
	}()
	return ch
}

func answerOf(t *testing.T, ch <-chan waited) broker.Request {
	t.Helper()
	select {
	case w := <-ch:
		require.NoError(t, w.err)
		return w.r
	case <-time.After(2 * time.Minute):
		require.FailNow(t, "it waits for ever")
		panic("unreachable")
	}
}

// waits is how many waits of an agent are written down.
func waits(t *testing.T, s broker.Store, agent string) (n int) {
	require.NoError(t, s.View(t.Context(), func(tx broker.ReadTx) error {
		list, err := tx.Waits(broker.WaitFilter{AgentID: agent})
		n = len(list)
		return err
	}))
	return n
}
