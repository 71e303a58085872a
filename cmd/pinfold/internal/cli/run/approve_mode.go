package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/brokerhost"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/webinbox"
	"github.com/pinfold-dev/pinfold/internal/helper"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// approveMode is what --approve says: who answers for the run's operator.
type approveMode struct {
	kind    string // "", tty, web, deny, exec
	command string // of exec
	path    string // PATH of exec's command; see safeSearch
}

func parseApprove(text string) (approveMode, error) {
	kind, command, _ := strings.Cut(text, ":")
	switch {
	case kind == "exec" && command != "":
		return approveMode{kind: kind, command: command}, nil
	case kind == "exec":
		return approveMode{}, cli.UsageError(errors.New("--approve exec: the command is missing"), "--approve 'exec:/usr/local/bin/may-it'")
	case slices.Contains([]string{"", "tty", "web", "deny"}, text):
		return approveMode{kind: text}, nil
	}
	return approveMode{}, cli.UsageError(cli.UnknownWord("way to approve", text, "tty", "web", "deny", "exec:CMD"), "")
}

// refuseReachable refuses a command that is, or names by ./, ../ or /, a file
// which the agent could change: it would answer itself, with the operator's
// rights. Other words may be anything.
func (m approveMode) refuseReachable(r *pathresolver.Resolver) error {
	separates := func(c rune) bool { return strings.ContainsRune(" \t\n;&|()<>=\"'`", c) }
	for i, word := range strings.FieldsFunc(m.command, separates) {
		if i > 0 && !strings.HasPrefix(word, ".") && !filepath.IsAbs(word) {
			continue
		}
		if strings.ContainsRune(word, '/') {
			if err := hostfile.Refuse("--approve exec:", word); err != nil {
				return err
			}
		}
		for _, at := range []string{answerName(word), answerTarget(word)} {
			place, err := filepath.Rel(r.Root(), at)
			if err != nil || !filepath.IsLocal(place) {
				continue
			}
			info, err := os.Lstat(at)
			if v := r.Verdict(filepath.ToSlash(place)); err == nil && !info.IsDir() && (v.Writable || v.AskWrite) {
				return cli.UsageError(fmt.Errorf("--approve exec: what the command may change must not answer for you: '%s'", pathresolver.EscapePath(place)),
					"keep it outside of the write paths, or --protect it")
			}
		}
	}
	return nil
}

// answerName is the absolute path of a name, which itself may be a link; "" where
// its directory does not exist. answerTarget is what it leads to.
func answerName(path string) string {
	if dir := answerTarget(filepath.Dir(path)); dir != "" {
		return filepath.Join(dir, filepath.Base(path))
	}
	return ""
}

func answerTarget(path string) string {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return ""
	}
	return path
}

// safeSearch sets the PATH of exec's command to yours without the directories in
// which the agent could put a program, now or later: what the command starts by
// name would run with the operator's rights, and could answer. It refuses a
// command that is found in those alone.
func (m *approveMode) safeSearch(r *pathresolver.Resolver, home string) error {
	if m.kind != "exec" {
		return nil
	}
	all := os.Getenv("PATH")
	m.path = helper.Search(all, func(dir string) bool { return agentWrites(r, home, dir) })
	if m.path == "" { // which a shell takes for the working directory
		m.path = "/usr/bin:/bin"
	}
	name, _, _ := strings.Cut(strings.TrimSpace(m.command), " ")
	if name == "" || strings.ContainsRune(name, '/') || inSearch(m.path, name) != "" {
		return nil
	}
	if at := inSearch(all, name); at != "" {
		return cli.UsageError(fmt.Errorf("--approve exec: what the command may change must not answer for you: '%s', which PATH leads to", pathresolver.EscapePath(at)),
			"keep it outside of the write paths and of --home, or name another by its path")
	}
	return nil // the shell has it, or says that there is none
}

// inSearch is where a program lies that is looked up in path, or "".
func inSearch(path, name string) string {
	for _, dir := range filepath.SplitList(path) {
		at := filepath.Join(dir, name)
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return at
		}
	}
	return ""
}

// agentWrites reports whether the run's command may put something into dir, or
// lead dir or one above it elsewhere.
func agentWrites(r *pathresolver.Resolver, home, dir string) bool {
	if home != "" {
		home = answerTarget(home)
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		for _, real := range []string{answerName(at), answerTarget(at)} {
			if rel, err := filepath.Rel(home, real); home != "" && err == nil && filepath.IsLocal(rel) {
				return true
			}
			place, err := filepath.Rel(r.Root(), real)
			if err != nil || !filepath.IsLocal(place) {
				continue
			}
			v := r.Verdict(filepath.ToSlash(filepath.Join(place, "program")))
			if at == filepath.Clean(dir) && (v.Writable || v.AskWrite) {
				return true
			}
			if v := r.Verdict(filepath.ToSlash(place)); v.Writable || v.AskWrite {
				return true
			}
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// start begins to answer. nil answers nobody: the operator does, elsewhere.
func (m approveMode) start(e *embedded, a *cli.App, quiet bool) (*answering, error) {
	switch m.kind {
	case "deny":
		return e.answering(1, denyAll), nil
	case "tty":
		t, err := openTerminal()
		if err != nil {
			return nil, &cli.ExitError{Code: cli.ExitRunOwn, Err: fmt.Errorf("--approve tty: there is no controlling terminal: %w", err), Hint: "--approve web shows a page instead"}
		}
		w := e.answering(1, (&ttyAnswers{t, e.pause, e.propose.Of}).answer)
		w.ended = t.Close
		return w, nil
	case "web":
		page, _, err := brokerhost.ShowPage(e.ctx, a, "", webinbox.Options{Broker: e.b, Dir: e.dir, Propose: e.propose.Of}) // one that breaks says so in the browser
		if err != nil {
			return nil, err
		}
		return &answering{ended: page.Close}, nil
	case "exec":
		return e.answering(maxExecs, execAnswers{m.command, m.path, e.propose.Of}.answer), nil
	}
	switch {
	case quiet || !a.Out.Stderr.Terminal:
	case e.temporary:
		a.Out.Hint("what has to be asked for waits for you: 'pinfold requests' in another terminal shows it where PINFOLD_SOCKET=" + brokerhttp.OperatorSocket(e.dir) + " is set")
	default:
		a.Out.Hint("what has to be asked for waits for you: 'pinfold requests' in another terminal shows it, 'pinfold approve ID' allows it")
	}
	return nil, nil
}

// ruling is an answer to a request; the zero one leaves it to somebody else.
type ruling struct {
	approve, deny bool
	answer        broker.Answer
	reason        string
}

// denyAll is --approve deny.
func denyAll(context.Context, broker.Request) ruling {
	return ruling{deny: true, reason: "Denied: nobody is there to be asked (--approve deny)"}
}

// answering answers the requests of the run's agent for the operator.
type answering struct {
	e      *embedded
	answer func(context.Context, broker.Request) ruling
	turn   chan struct{} // one for each answer that is being found

	mu    sync.Mutex
	seen  map[string]context.CancelFunc // of requests that are pending, by their id
	all   sync.WaitGroup
	stop  context.CancelFunc
	ended func() error // of what was started for it; nil for nothing
}

// answering starts to answer, atOnce requests at a time.
func (e *embedded) answering(atOnce int, answer func(context.Context, broker.Request) ruling) *answering {
	w := &answering{e: e, answer: answer, turn: make(chan struct{}, atOnce), seen: map[string]context.CancelFunc{}}
	ctx, stop := context.WithCancel(e.ctx)
	w.stop = stop
	w.all.Go(func() { w.watch(ctx) })
	return w
}

// close returns once nothing is being answered any more.
func (w *answering) close() (err error) {
	if w.stop != nil {
		w.stop()
	}
	w.all.Wait()
	if w.ended != nil {
		err = w.ended()
	}
	return err
}

// watch looks what is pending whenever something has changed.
func (w *answering) watch(ctx context.Context) {
	wake, stop := w.e.b.Watch(broker.OperatorIdentity())
	defer stop()
	for {
		if rows, err := w.e.b.Requests(ctx, broker.OperatorIdentity()); err == nil {
			w.take(ctx, rows)
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return
		}
	}
}

// take begins to answer what is new, and gives up what is gone.
func (w *answering) take(ctx context.Context, rows []broker.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, over := range w.seen {
		if !slices.ContainsFunc(rows, func(r broker.Request) bool { return r.ID == id }) {
			over()
			delete(w.seen, id)
		}
	}
	for _, r := range rows {
		if w.seen[r.ID] != nil {
			continue
		}
		one, over := context.WithCancel(ctx)
		w.seen[r.ID] = over
		w.all.Go(func() { w.one(one, r) })
	}
}

func (w *answering) one(ctx context.Context, r broker.Request) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return
	}
	// The answer before this one may have covered it, before anybody was told.
	operator := broker.OperatorIdentity()
	r, err := w.e.b.Request(ctx, operator, r.ID)
	if err != nil || r.Status != broker.Pending {
		return
	}
	v := w.answer(ctx, r)
	if ctx.Err() != nil {
		return // it was answered elsewhere, or is no longer asked for
	}
	switch {
	case v.deny:
		_, err = w.e.b.Deny(ctx, operator, r.ID, v.reason)
	case v.approve:
		v.answer.Digest = r.Digest // what was shown is what is approved
		_, err = w.e.b.Approve(ctx, operator, r.ID, v.answer)
	}
	if err != nil && ctx.Err() == nil {
		w.e.out.Warning("request " + r.ID + " could not be answered: " + pathresolver.EscapePath(err.Error()))
	}
}
