package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/viewhost"
	"github.com/pinfold-dev/pinfold/internal/gateway"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// afterRead closes the network at the first use of a file that --after-read names. To the
// view these files are to be asked for, and it answers: yes, once nothing goes out any more.
type afterRead struct {
	told func(by sandboxfs.AskRequest)

	mu      sync.Mutex
	network *gateway.Process // nil: nothing runs yet
	shut    bool
}

var _ sandboxfs.Asker = (*afterRead)(nil)

// shutWithin bounds how long an open waits until the network is closed.
const shutWithin = 20 * time.Second

// serves has the network be the one that is closed.
func (a *afterRead) serves(network *gateway.Process) {
	if a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.network = network
	}
}

// Ask allows an operation once the network is closed.
func (a *afterRead) Ask(_ context.Context, q sandboxfs.AskRequest) error {
	a.mu.Lock()
	defer a.mu.Unlock() // all wait for the first
	if a.shut {
		return nil
	}
	if a.network == nil {
		return errors.New("the network cannot be closed yet, as --after-read wants it")
	}
	if err := a.network.Shut(); err != nil {
		return fmt.Errorf("the network was not closed, as --after-read wants it: %w", err)
	}
	a.shut = true
	a.told(q)
	return nil
}

// Record records nothing: nobody else is asked.
func (a *afterRead) Record(context.Context, sandboxfs.AskRequest) error { return nil }

// Granted says of everything that it may be.
func (a *afterRead) Granted(access.Access) bool { return true }

// checkAfterRead refuses --after-read where the network cannot be closed, or where what
// was read could leave in another way.
func (f *runFlags) checkAfterRead(cfg pathresolver.Config) error {
	switch {
	case len(f.reach.afterRead) == 0 || f.NoNetwork():
		return nil
	case f.reach.net != netAllow:
		return cli.UsageError(errors.New("--after-read cannot close the host's network for one command"), "--allow-host NAME, or --net allow, gives it one that can be closed")
	case f.approve != "" || viewhost.AsksAnything(cfg):
		return cli.UsageError(errors.New("--after-read is not held where a broker answers for the command: it could pass on there what it has read"), "leave out --approve, and what the policy wants asked for")
	case len(f.sockets.given)+len(f.devices) > 0:
		return cli.UsageError(errors.New("--after-read closes the network alone: what the command has read could leave by a socket or a device of the host"), "leave out --socket and --device")
	}
	return nil
}

// withAfterRead are the rules as the view gets them.
func (f *runFlags) withAfterRead(cfg pathresolver.Config) pathresolver.Config {
	if len(f.reach.afterRead) > 0 && f.reach.net == netAllow && !f.NoNetwork() {
		f.reach.after = &afterRead{}
		cfg.AskRead = f.reach.afterRead // checkAfterRead has seen that there are no others
	}
	return cfg
}

// shutLine is a line of --report.
type shutLine struct {
	Time string  `json:"time"`
	Shut netShut `json:"network_closed"`
}

// netShut is the file at whose first use the network was closed, and who used it.
type netShut struct {
	Path    string `json:"path"`
	Program string `json:"program,omitempty"`
}

// networkShut notes that the network was closed.
func (c *refused) networkShut(q sandboxfs.AskRequest) {
	now := time.Now()
	shut := netShut{Path: pathresolver.EscapePath(q.Accesses[0].Resource), Program: pathresolver.EscapePath(q.Program)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shut = fmt.Sprintf("the network was closed at %s, when %s used '%s'", now.Format(time.TimeOnly), cmp.Or(shut.Program, "a program"), shut.Path)
	for _, file := range c.files {
		file.append(shutLine{cli.TimeText(now), shut})
	}
}
