//go:build linux

package sandboxfs_test

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// While a hundred opens wait, everything else in the same directories goes
// on.
func TestHundredWait(t *testing.T) {
	o := arrangements["run"]
	o.AskWait = noLimit
	d := newFakeAsker()
	o.Ask = d
	var specs []string
	for i := range 100 {
		specs = append(specs, fmt.Sprintf("out/d%d/secret%d=old", i%4, i))
	}
	f := mount(t, o, pathresolver.Config{WritePaths: []string{"out"}, AskWrite: []string{"out/*/secret*"}}, specs...)
	round := func() (took []time.Duration) {
		for i := range 100 {
			dir := f.in(fmt.Sprintf("out/d%d", i%4))
			for _, do := range []func() error{
				func() error { return write(dir+"/new", "x") },
				func() error { _, err := os.Stat(dir + "/new"); return err },
				func() error { return os.Rename(dir+"/new", f.in(fmt.Sprintf("out/d%d/other", (i+1)%4))) },
				func() error { return os.Remove(f.in(fmt.Sprintf("out/d%d/other", (i+1)%4))) },
				func() error { return os.Mkdir(dir+"/dir", 0o755) },
				func() error { return os.Remove(dir + "/dir") },
				func() error { _, err := os.ReadFile(dir + fmt.Sprintf("/secret%d", i)); return err },
				func() error { _, err := os.ReadDir(dir); return err },
			} {
				began := time.Now()
				require.NoError(t, do())
				took = append(took, time.Since(began))
			}
		}
		slices.Sort(took)
		return took
	}
	round()
	alone := round()
	var opens sync.WaitGroup
	errs := make(chan error, 100)
	for i := range 100 {
		opens.Go(func() { errs <- write(f.in(fmt.Sprintf("out/d%d/secret%d", i%4, i)), "new") })
	}
	names := d.pending(t, "open write ", 100)
	opensWait(t, f, 100)
	among := round()
	t.Logf("an operation takes %v alone and %v while 100 opens wait (medians); the slowest %v and %v",
		alone[len(alone)/2], among[len(among)/2], alone[len(alone)-1], among[len(among)-1])
	opensWait(t, f, 100)
	for _, name := range names {
		d.answer(t, name, nil)
	}
	opens.Wait()
	for range 100 {
		require.NoError(t, <-errs)
	}
	require.Equal(t, "new", f.read(f.on("out/d3/secret99")))
}
