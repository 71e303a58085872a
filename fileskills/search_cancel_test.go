package fileskills

import (
	"context"
	"encoding/json"
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
}

func (f stuckFS) wait(call string) {
	if call == f.at {
		f.once.Do(func() { close(f.stuck) })
		<-f.free
	}
}

func (f stuckFS) Open(p string) (File, error) {
	file, err := f.FS.Open(p)
	return stuckFile{file, f}, err
}

func (f stuckFS) OpenDir(p string) (Dir, error) {
	d, err := f.FS.OpenDir(p)
	return stuckDir{d, f}, err
}

type stuckDir struct {
	Dir
	f stuckFS
}

func (d stuckDir) ReadDir() ([]fs.DirEntry, error) {
	d.f.wait("readdir")
	return d.Dir.ReadDir()
}

func (d stuckDir) OpenDir(name string) (Dir, error) {
	d.f.wait("opendir")
	sub, err := d.Dir.OpenDir(name)
	return stuckDir{sub, d.f}, err
}

func (d stuckDir) Open(name string) (File, error) {
	d.f.wait("open")
	f, err := d.Dir.Open(name)
	return stuckFile{f, d.f}, err
}

type stuckFile struct {
	File
	f stuckFS
}

func (f stuckFile) Read(p []byte) (int, error) {
	f.f.wait("read")
	return f.File.Read(p)
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
			stuck := stuckFS{resolved, make(chan struct{}), make(chan struct{}), new(sync.Once), c.at}
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
			close(stuck.free)
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
