package fileskills

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProgress: at most ten reports a second, and none where nobody listens.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports []Progress
		ctx := WithProgress(context.Background(), func(p Progress) { reports = append(reports, p) })
		c := &call{ctx: ctx}
		for i := range 1000 {
			c.progress(Progress{Done: int64(i)})
			time.Sleep(10 * time.Millisecond)
		}
		require.Len(t, reports, 100)
		require.EqualValues(t, 990, reports[99].Done)
	})
	(&call{ctx: context.Background()}).progress(Progress{Done: 1})
}

// slowOpens is a file system in whose directories only one file is opened before
// free is closed.
type slowOpens struct {
	FS
	first, free chan struct{} // first holds one
}

type slowDir struct {
	Dir
	f slowOpens
}

func (f slowOpens) OpenDir(p string) (Dir, error) {
	d, err := f.FS.OpenDir(p)
	return slowDir{d, f}, err
}

func (d slowDir) Open(name string) (File, error) {
	if !strings.HasSuffix(name, ".gitignore") && !strings.HasPrefix(name, ".git/") {
		select {
		case <-d.f.first:
		case <-d.f.free:
		}
	}
	return d.Dir.Open(name)
}

// TestGrepReportsWithinADirectory: whoever waits for a search of one directory
// of many files is told how far it is. Here nothing goes on before that.
func TestGrepReportsWithinADirectory(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.plant(fmt.Sprintf("d/f%d", i), "text\n")
	}
	slow := slowOpens{w.set.fs, make(chan struct{}, 1), make(chan struct{})}
	slow.first <- struct{}{}
	set, err := New(Config{FS: slow})
	require.NoError(t, err)
	told := false
	ctx := WithProgress(context.Background(), func(p Progress) {
		if p.Done > 0 && !told {
			require.Equal(t, "1 file searched", p.Text)
			told = true
			close(slow.free)
		}
	})
	ended := make(chan error, 1)
	go func() {
		_, err := set.Call(ctx, "grep", json.RawMessage(`{"pattern":"text","path":"d"}`))
		ended <- err
	}()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(deadline):
		t.Fatal("nothing is reported within the directory")
	}
	require.True(t, told)
}
