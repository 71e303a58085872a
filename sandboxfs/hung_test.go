//go:build linux

package sandboxfs_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// hung answers nothing until it is released, whatever its context says.
type hung struct {
	asked    chan string
	released chan struct{}
	once     sync.Once
}

func (h *hung) release() { h.once.Do(func() { close(h.released) }) }

func (h *hung) Ask(_ context.Context, q sandboxfs.AskRequest) error {
	select {
	case h.asked <- named(q):
		<-h.released
	case <-h.released:
	}
	return errors.New("too late")
}

// wait returns when this was asked for. What a signal interrupts is asked for
// again.
func (h *hung) wait(t *testing.T, name string) {
	t.Helper()
	late := time.After(2 * bound)
	for {
		select {
		case got := <-h.asked:
			if got == name {
				return
			}
		case <-late:
			require.FailNow(t, "not asked for", name)
		}
	}
}

func (h *hung) Record(context.Context, sandboxfs.AskRequest) error { return nil }

func (h *hung) Granted(access.Access) bool { return true }

// An asker that answers nothing holds up only the processes that ask, and none of
// them for good: what cannot wait is refused, what waits can be interrupted, and the
// view can be closed.
func TestNobodyAnswers(t *testing.T) {
	eachArrangement(t, func(t *testing.T, o sandboxfs.Options) {
		h := &hung{asked: make(chan string), released: make(chan struct{})}
		t.Cleanup(h.release)
		o.Ask, o.AskWait = h, noLimit
		cfg := askingFor()
		f := mount(t, o, cfg, "src/x=old", "src/y=y", "out/gen/d/", "out/plain/", "vault/")

		made := background(func() error { return os.Mkdir(f.in("out/gen/d/new"), 0o755) })
		h.wait(t, "mkdir create out/gen/d/new")
		opened := background(func() error { return write(f.in("src/x"), "new") })
		h.wait(t, "open write src/x")
		require.NoError(t, os.Mkdir(f.in("out/plain/new"), 0o755), "in the same part")
		require.NoError(t, os.Rename(f.in("out/plain/new"), f.in("out/plain/other")))
		require.Equal(t, "y", f.read(f.in("src/y")), "in the same directory as the open")
		require.ErrorIs(t, ends(t, made), syscall.EACCES)

		waiter := inChild("truncate", f.in("src/x"))
		require.NoError(t, waiter.Start())
		h.wait(t, "open write src/x")
		require.NoError(t, waiter.Process.Kill())
		require.Error(t, ends(t, background(waiter.Wait)))
		opensWait(t, f, 1) // the other one

		require.NoError(t, f.v.Close())
		require.Error(t, ends(t, opened))
		require.NoDirExists(t, f.on("out/gen/d/new"))
		require.Equal(t, "old", f.read(f.on("src/x")))
		h.release()
	})
}
