package fileskills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// stuckFS is a file system that stops answering: every call that reads waits
// until it is let go.
type stuckFS struct {
	FS
	stuck chan struct{} // closed once the first call waits
	free  chan struct{} // closed to let go
	once  *sync.Once
	at    string // which calls wait
	gone  *atGone
}

// atGone ends all calls, before what they act on goes.
type atGone struct {
	mu   sync.RWMutex
	gone bool
}

var errGone = errors.New("the file system is gone")

// do waits where that is the call, and does it unless all is gone meanwhile.
func (f stuckFS) do(call string, op func() error) error {
	f.wait(call)
	f.gone.mu.RLock()
	defer f.gone.mu.RUnlock()
	if f.gone.gone {
		return errGone
	}
	return op()
}

// end lets go what waits; when it returns nothing acts any more.
func (f stuckFS) end() {
	close(f.free)
	f.gone.mu.Lock()
	defer f.gone.mu.Unlock()
	f.gone.gone = true
}

func (f stuckFS) wait(call string) {
	if call == f.at {
		f.once.Do(func() { close(f.stuck) })
		<-f.free
	}
}

func (f stuckFS) Open(p string) (File, error) {
	var file File
	err := f.do("", func() (err error) { file, err = f.FS.Open(p); return err })
	return stuckFile{file, f}, err
}

func (f stuckFS) OpenDir(p string) (Dir, error) {
	var d Dir
	err := f.do("", func() (err error) { d, err = f.FS.OpenDir(p); return err })
	return stuckDir{d, f}, err
}

type stuckDir struct {
	Dir
	f stuckFS
}

func (d stuckDir) ReadDir() (entries []fs.DirEntry, err error) {
	err = d.f.do("readdir", func() (err error) { entries, err = d.Dir.ReadDir(); return err })
	return entries, err
}

func (d stuckDir) OpenDir(name string) (Dir, error) {
	var sub Dir
	err := d.f.do("opendir", func() (err error) { sub, err = d.Dir.OpenDir(name); return err })
	return stuckDir{sub, d.f}, err
}

func (d stuckDir) Open(name string) (File, error) {
	var f File
	err := d.f.do("open", func() (err error) { f, err = d.Dir.Open(name); return err })
	return stuckFile{f, d.f}, err
}

type stuckFile struct {
	File
	f stuckFS
}

func (f stuckFile) Read(p []byte) (n int, err error) {
	err = f.f.do("read", func() (err error) { n, err = f.File.Read(p); return err })
	return n, err
}

// A call comes back when it is cancelled, also while the file system does not
// answer; what is left running ends when it does.
func TestSearchIsCancelledWhileFilesDoNotAnswer(t *testing.T) {
	w := newWorld(t)
	for i := range 50 {
		w.plant(fmt.Sprintf("d%d/f", i), "text\n")
	}
	resolved := w.set.fs
	for _, c := range []struct {
		at, skill string
		in        args
	}{
		{"readdir", "glob", args{"pattern": "**"}},
		{"opendir", "glob", args{"pattern": "**"}},
		{"readdir", "list_directory", args{}},
		{"opendir", "grep", args{"pattern": "x"}},
		{"open", "grep", args{"pattern": "x"}},
		{"read", "grep", args{"pattern": "x"}},
		{"read", "grep", args{"pattern": "x", "path": "ok.txt"}},
		{"read", "read_file", args{"path": "ok.txt"}},
		{"read", "file_info", args{"path": "ok.txt"}},
	} {
		t.Run(c.skill+"-"+c.at, func(t *testing.T) {
			stuck := stuckFS{resolved, make(chan struct{}), make(chan struct{}), new(sync.Once), c.at, new(atGone)}
			set, err := New(Config{FS: stuck})
			require.NoError(t, err)
			input, err := json.Marshal(c.in)
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() {
				_, err := set.Call(ctx, c.skill, input)
				ended <- err
			}()
			<-stuck.stuck
			cancel()
			var e *Error
			require.ErrorAs(t, <-ended, &e) // it comes though nothing was let go
			require.Equal(t, CodeCancelled, e.Code)
			stuck.end()
		})
	}
}

// An expression that takes long on one line does not keep the call either.
func TestSearchIsCancelledWithinALine(t *testing.T) {
	w := newWorld(t)
	w.write("ok.txt", strings.Repeat("ab ", 3<<20))
	ctx, cancel := context.WithCancel(WithProgress(context.Background(), func(Progress) {}))
	ended := make(chan error, 1)
	go func() {
		_, err := w.set.Call(ctx, "grep", []byte(`{"pattern":"(\\w+\\s+){50}(x|y|\\d)+z"}`))
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Fatal("it took no time", err)
	default:
	}
	cancel()
	var e *Error
	require.ErrorAs(t, <-ended, &e)
	require.Equal(t, CodeCancelled, e.Code)
}
