package sqlitestore

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// TestNotice: what one process commits another hears of by itself, long before it would
// look. Where the file cannot be watched it looks more often instead.
func TestNotice(t *testing.T) {
	open := func(path string) *store {
		s, err := Open(context.Background(), path)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s.(*store)
	}
	path := filepath.Join(t.TempDir(), "broker.db")
	one, two := open(path), open(path)
	require.NotNil(t, two.notice)
	// Nobody but this test takes what is heard: the store itself does not look.
	own := newNotice(path + "-changed")
	require.NotNil(t, own)
	defer func() { require.NoError(t, own.close()) }()
	require.NoError(t, one.Update(t.Context(), func(tx broker.Tx) error { return tx.PutPolicy("hash", nil) }))
	select {
	case <-own.heard:
	case <-time.After(time.Minute):
		require.Fail(t, "nothing was heard")
	}

	path = filepath.Join(t.TempDir(), "broker.db")
	require.NoError(t, os.Mkdir(path+"-changed", 0o700))
	require.Nil(t, open(path).notice)

	// A link there is not followed to somebody else's file.
	path = filepath.Join(t.TempDir(), "broker.db")
	require.NoError(t, os.WriteFile(path+"-other", []byte("x"), 0o600))
	require.NoError(t, os.Symlink(path+"-other", path+"-changed"))
	require.Nil(t, open(path).notice)
}
