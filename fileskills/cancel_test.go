package fileskills

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/access"
)

// boundaryFS counts the calls to an FS and its handles, and cancels the
// context before the nth.
type boundaryFS struct {
	FS
	left   int
	cancel context.CancelFunc
}

func (f *boundaryFS) step() {
	if f.left--; f.left == 0 {
		f.cancel()
	}
}

func (f *boundaryFS) Open(p string) (File, error) {
	f.step()
	file, err := f.FS.Open(p)
	f.step()
	return file, err
}

func (f *boundaryFS) Resolve(a access.Action, p string) (string, error) {
	f.step()
	return f.FS.Resolve(a, p)
}

func (f *boundaryFS) Replace(p string, o ReplaceOptions) (Replacement, error) {
	f.step()
	rep, err := f.FS.Replace(p, o)
	f.step()
	if err != nil {
		return nil, err
	}
	return &boundaryReplacement{rep, f}, nil
}

type boundaryReplacement struct {
	Replacement
	f *boundaryFS
}

func (r *boundaryReplacement) Write(p []byte) (int, error) {
	r.f.step()
	n, err := r.Replacement.Write(p)
	r.f.step()
	return n, err
}

func (r *boundaryReplacement) CopyFrom(ctx context.Context, src File) (int64, error) {
	r.f.step()
	n, err := r.Replacement.CopyFrom(ctx, src)
	r.f.step()
	return n, err
}

func (r *boundaryReplacement) Commit(ctx context.Context, still func(File) error) error {
	r.f.step()
	return r.Replacement.Commit(ctx, func(now File) error {
		r.f.step()
		if still == nil {
			return nil
		}
		err := still(now)
		r.f.step()
		return err
	})
}

// TestCancelAtAnyPoint: a call that is cancelled has either happened or not;
// what it says is so, and nothing is left beside.
func TestCancelAtAnyPoint(t *testing.T) {
	for name, a := range map[string]args{
		"write_file":    {"path": "out/d/f", "content": "new\n"},
		"append_file":   {"path": "out/f", "content": "more\n"},
		"edit_file":     {"path": "out/f", "old_string": "old", "new_string": "new"},
		"regex_replace": {"path": "out/f", "pattern": "o.d", "replacement": "new"},
		"copy_file":     {"source": "ok.txt", "destination": "out/d/f"},
	} {
		t.Run(name, func(t *testing.T) {
			cancelled, done := 0, false
			for n := 1; !done; n++ {
				require.Less(t, n, 100)
				w := newWorld(t)
				w.write("out/f", "old\n")
				ctx, cancel := context.WithCancel(context.Background())
				f := &boundaryFS{FS: w.set.fs, left: n, cancel: cancel}
				w.set.fs = f
				input, err := json.Marshal(a)
				require.NoError(t, err)
				_, err = w.set.Call(ctx, name, input)
				done = f.left > 0
				cancel()
				if err == nil {
					continue
				}
				var e *Error
				require.True(t, errors.As(err, &e) && e.Code == CodeCancelled, "%d: %v", n, err)
				cancelled++
				require.Equal(t, "old\n", w.read("out/f"), n)
				require.Equal(t, []string{"f"}, w.names("out"), n)
			}
			require.Greater(t, cancelled, 4)
		})
	}
}

// TestDeadline: T4. A deadline is a timeout, not a cancellation.
func TestDeadline(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithTimeout(context.Background(), -1)
	defer cancel()
	_, err := w.set.Call(ctx, "write_file", json.RawMessage(`{"path":"out/a","content":"x"}`))
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, CodeTimeout, e.Code)
	require.Empty(t, w.names("out"))
}

// TestTimeoutAtAnyPoint: T4. A skill that takes longer than it may ends with
// timeout, and nothing is half done; in time it is done.
func TestTimeoutAtAnyPoint(t *testing.T) {
	const most = 30 * time.Second
	late, done := 0, false
	for n := 1; !done; n++ {
		require.Less(t, n, 100)
		w := newWorld(t)
		w.write("out/f", "old\n")
		w.set.timeout = func(skill string) time.Duration {
			require.Equal(t, "edit_file", skill)
			return most
		}
		synctest.Test(t, func(t *testing.T) {
			f := &boundaryFS{FS: w.set.fs, left: n, cancel: func() { time.Sleep(most) }}
			w.set.fs = f
			_, err := w.set.Call(context.Background(), "edit_file", json.RawMessage(`{"path":"out/f","old_string":"old","new_string":"new"}`))
			done = f.left > 0
			if err == nil {
				require.Equal(t, "new\n", w.read("out/f"), n)
				return
			}
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, CodeTimeout, e.Code, "%d: %v", n, err)
			late++
			require.Equal(t, "old\n", w.read("out/f"), n)
			require.Equal(t, []string{"f"}, w.names("out"), n)
		})
	}
	require.Greater(t, late, 2)
}
