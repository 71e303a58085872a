package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/approvals"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/clitest"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/tuiinbox"
	"github.com/pinfold-dev/pinfold/permission"
)

func init() { standIns["pinfold-inbox"] = inboxToTypeAt }

// shortPause is that of an inbox that is typed at: short, so that the typing
// comes to all that a person comes to who makes pauses.
const shortPause = 3 * time.Millisecond

// inboxToTypeAt is the inbox of 'pinfold requests --watch' with a short pause,
// shown again whenever it is left. With PINFOLD_TEST_Y it is as it once was: y
// approves.
func inboxToTypeAt() {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	at, err := brokerhttp.FromEnvironment(os.Getenv)
	fail(err)
	c, err := brokerhttp.NewClient(at)
	fail(err)
	opt := tuiinbox.Options{Broker: approvals.OneInbox{Client: c}, In: os.Stdin, Out: os.Stdout, Env: os.Environ(), Pause: shortPause}
	if os.Getenv("PINFOLD_TEST_Y") != "" {
		mode, err := unix.IoctlGetTermios(0, unix.TCGETS)
		fail(err)
		mode.Lflag &^= unix.ICANON | unix.ECHO | unix.ISIG | unix.IEXTEN
		mode.Iflag &^= unix.ICRNL | unix.IXON
		fail(unix.IoctlSetTermios(0, unix.TCSETS, mode))
		opt.In = &yApproves{from: os.Stdin}
	}
	for {
		fail(tuiinbox.Run(context.Background(), opt))
	}
}

// yApproves has y do all that approving takes, wherever it is typed.
type yApproves struct {
	from io.Reader
	rest []byte
}

func (y *yApproves) Read(p []byte) (int, error) {
	if len(y.rest) > 0 {
		time.Sleep(100 * time.Millisecond) // as whoever means it would
		n := copy(p[:1], y.rest)
		y.rest = y.rest[n:]
		return n, nil
	}
	n, err := y.from.Read(p[:1])
	if n == 1 && p[0] == 'y' {
		y.rest = []byte{'\x1b', 'a', approveByte}
	}
	return n, err
}

const approveByte, denyByte = 0x0f, 0x18 // Ctrl-O, Ctrl-X

// inboxTypist types at random at an inbox, in whatever state it is, and knows which
// answers somebody meant.
type inboxTypist struct {
	*terminal
	b      *broker.Broker
	r      *rand.Rand
	policy *permission.Policy
	cwd    string
	agents int
	who    broker.Identity
	open   []broker.Request // nobody has answered them on purpose
	slow   bool             // with pauses between some keys
	recent []string
}

var typedWords = strings.Fields(`a aa yes y ok approve ap as d no because n the jars are not ready yet jj k f b g G v r o p t s u 30m
	an approval and all of it does this need a reason? docs/a.md Allow! it's fine, go on (really) ä 漢 q x`)

// notAnswers are what other keys send, whole and torn, and what is pasted.
var notAnswers = []string{
	"\r", "\r", "\r", "\t", "\t", "\x1b[Z", "\x7f", "\x08", " ", " ", "\x1b", "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1b[", "\x1bO", "\x1ba", "\x1by",
	"\x1b[200~a y yes\ny a\x1b[201~", "a\ry\r", "\x15", "\x17", "\x0b", "\x01", "\x05", "\x19", "\x8f", "\x98", "\xc2\x8f", "\n",
}

func (t *inboxTypist) did(format string, args ...any) {
	t.recent = append(t.recent, fmt.Sprintf(format, args...))
	if len(t.recent) > 60 {
		t.recent = t.recent[1:]
	}
}

// burst types something that is no answer.
func (t *inboxTypist) burst() {
	var keys []string
	for range 1 + t.r.IntN(6) {
		if t.r.IntN(2) == 0 {
			keys = append(keys, strings.Split(typedWords[t.r.IntN(len(typedWords))], "")...)
		} else {
			keys = append(keys, notAnswers[t.r.IntN(len(notAnswers))])
		}
	}
	t.did("types %q", keys)
	for _, key := range keys {
		t.press(key)
		if t.slow && t.r.IntN(4) == 0 {
			time.Sleep(time.Duration(t.r.IntN(int(4 * shortPause)))) // as fingers do
		}
	}
}

// change has something happen elsewhere.
func (t *inboxTypist) change() {
	for len(t.open) < 1 || len(t.open) < 4 && t.r.IntN(3) == 0 {
		r, err := t.b.Ask(t.Context(), t.who, access.Request{Action: access.FSWrite, Resource: fmt.Sprintf("src/%d.go", t.r.Uint32()), Tool: "write_file", MayBlock: true,
			Input: []byte(`{"path": "x", "content": "y"}`), Reason: "why not",
		})
		if err != nil { // what one may ask for in a minute is bounded
			t.next()
			continue
		}
		t.did("asks for %s", r.Resource)
		t.open = append(t.open, r)
	}
	switch t.r.IntN(8) {
	case 0:
		i := t.r.IntN(len(t.open))
		t.did("elsewhere %s is answered", t.open[i].Resource)
		if _, err := t.b.Deny(t.Context(), broker.OperatorIdentity(), t.open[i].ID, ""); err != nil {
			return // typing was faster, which unmeant finds
		}
		t.open = slices.Delete(t.open, i, i+1)
	case 1:
		size := [][2]uint16{{40, 160}, {30, 100}, {24, 49}, {10, 20}}[t.r.IntN(4)]
		t.did("size %v", size)
		require.NoError(t, unix.IoctlSetWinsize(int(t.keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: size[0], Col: size[1]}))
	}
}

func (t *inboxTypist) next() {
	t.agents++
	id := fmt.Sprintf("kid%d", t.agents)
	_, _, err := t.b.Hire(t.Context(), broker.OperatorIdentity(), broker.HireSpec{ID: id, Cwd: t.cwd, Policy: t.policy})
	require.NoError(t, err)
	t.who = broker.AgentIdentity(id)
}

// unmeant is the first request that was answered though nobody meant to.
func (t *inboxTypist) unmeant() string {
	for _, r := range t.open {
		now, err := t.b.Request(t.Context(), broker.OperatorIdentity(), r.ID)
		require.NoError(t, err)
		if now.Status != broker.Pending {
			return fmt.Sprintf("%s was %s by %s", r.Resource, now.Status, now.Resolver)
		}
	}
	return ""
}

// types types until an answer was given that nobody meant, or all of it.
func (t *inboxTypist) types(bursts int) (typed int, found string) {
	for typed < bursts && found == "" {
		if t.r.IntN(2) == 0 {
			t.change()
		}
		t.burst()
		if typed++; typed%20 == 0 {
			found = t.unmeant()
		}
	}
	return typed, found
}

// approves answers what is shown on purpose, which shows too that all that was
// typed before was read.
func (t *inboxTypist) approves() {
	require.NoError(t, unix.IoctlSetWinsize(int(t.keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 300}))
	for _, r := range t.open {
		_, err := t.b.Deny(t.Context(), broker.OperatorIdentity(), r.ID, "")
		require.NoError(t, err)
	}
	t.open = nil
	t.change()
	for len(t.open) > 1 {
		_, err := t.b.Deny(t.Context(), broker.OperatorIdentity(), t.open[0].ID, "")
		require.NoError(t, err)
		t.open = t.open[1:]
	}
	if len(t.open) == 0 {
		t.approves()
		return
	}
	r := t.open[0]
	for tries := range 200 { // the screen may still be about another one
		at := len(t.raw())
		t.press("\x1b") // two at once are another key
		t.settles()
		t.press("\x1b[B")
		t.settles()
		t.press("a")
		t.settles()
		t.press(string(rune(approveByte)))
		t.settles()
		now, err := t.b.Request(t.Context(), broker.OperatorIdentity(), r.ID)
		require.NoError(t, err)
		if now.Status == broker.Approved {
			return
		}
		require.Less(t, tries, 199, "what is meant to approve does not: %q", t.raw()[at:])
	}
}

// settles is a pause as a person makes it, for the program that is typed at.
func (t *inboxTypist) settles() { time.Sleep(20 * shortPause) }

// typeAt starts an inbox to be typed at.
func typeAt(t *testing.T, seed uint64, env []string, program string, args ...string) *inboxTypist {
	b, socket, cwd := clitest.ServedBroker(t)
	src, err := permission.Decode("worker.yaml", []byte("version: 1\nextends: sandboxed\nfs: {ask_write: [src]}\n"))
	require.NoError(t, err)
	policy, err := permission.Compile(src, permission.Options{Root: cwd})
	require.NoError(t, err)
	ty := &inboxTypist{b: b, r: rand.New(rand.NewPCG(seed, 2)), policy: policy, cwd: cwd}
	ty.terminal = programOnTerminal(t, program, append([]string{"PINFOLD_SOCKET=" + socket, "TERM=xterm-256color"}, env...), args...)
	ty.next()
	ty.change()
	return ty
}

// Whatever is typed at the inbox, in whatever state it is, approves and denies
// nothing; the same typing finds an inbox where y approves.
func TestTypingAnswersNothing(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("PINFOLD_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("PINFOLD_SEED=%d types the same again", seed)
	bursts := 1500
	if os.Getenv("PINFOLD_LONG") == "1" {
		bursts = 10_000
	}
	began := time.Now()
	// With pauses that are short, so that all states are reached.
	ty := typeAt(t, seed, nil, "pinfold-inbox")
	ty.slow = true
	typed, found := ty.types(bursts)
	require.Empty(t, found, "seed %d\n%s", seed, strings.Join(ty.recent, "\n"))
	ty.approves()
	// The command itself, at the speed at which a terminal takes keys.
	whole := typeAt(t, seed, nil, "pinfold", "requests", "--watch")
	atOnce, found := whole.types(bursts)
	require.Empty(t, found, "seed %d\n%s", seed, strings.Join(whole.recent, "\n"))
	took := time.Since(began)

	old := typeAt(t, seed, []string{"PINFOLD_TEST_Y=1"}, "pinfold-inbox")
	old.slow = true
	after, found := old.types(5000)
	require.NotEmpty(t, found, "the typing would not find an answer that typing gives")
	clitest.AnswersRow(t, "../../testdata/answers.txt", "typing", "terminal",
		fmt.Sprintf("%d bursts in %v, seed %d, 1 answer on purpose; the control after %d bursts", typed+atOnce, took.Round(time.Second), seed, after))
}
