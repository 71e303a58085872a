package storetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
)

// fullRounds is how often TestFull fills the disk.
const fullRounds = 3

// TestFull fills the small disk that the database and dir are on: an update is
// refused with the reason, nothing that was acknowledged is lost, reading goes
// on, and updates are taken again once there is space, by the same store and by
// one that is opened anew.
func TestFull(t *testing.T, open Open, dir string) {
	f := &full{s: open(t)}
	require.NoError(t, f.put(t, 100))
	ballast := filepath.Join(dir, "ballast")
	for round := range fullRounds {
		fill(t, ballast)
		// Until no page is left in what the database has already.
		var refused error
		size := 64 << 10
		for range 10_000 {
			if err := f.put(t, size); err != nil {
				require.ErrorIs(t, err, broker.ErrFull)
				refused = err
				if size /= 4; size == 0 {
					break
				}
			}
		}
		require.ErrorContains(t, refused, "no space left for the broker's database")
		require.Zero(t, size)
		require.ErrorIs(t, f.put(t, 100), broker.ErrFull)
		f.check(t)

		require.NoError(t, os.Remove(ballast))
		require.NoError(t, f.put(t, 10_000), "there is space again")
		f.check(t)
		if round == 1 {
			require.NoError(t, f.s.Close())
			f.s = open(t)
			f.check(t)
		}
	}
	require.NoError(t, f.s.Close())
}

// full is a store, and which messages it has acknowledged.
type full struct {
	s     broker.Store
	n     int
	acked []string
}

// put sends a message with its record. Its content is such that no database
// makes less of it.
func (f *full) put(t *testing.T, size int) error {
	t.Helper()
	f.n++
	name := fmt.Sprintf("m%06d", f.n)
	var content strings.Builder
	for x := uint32(f.n); content.Len() < size; {
		x = x*1664525 + 1013904223
		content.WriteByte(byte('0' + x>>24%64))
	}
	err := f.s.Update(t.Context(), func(tx broker.Tx) error {
		m := message(name, "a")
		m.Content = content.String()
		if _, err := tx.InsertMessage(m); err != nil {
			return err
		}
		return appended(tx, "msg.send", name)
	})
	if err == nil {
		f.acked = append(f.acked, name)
	}
	return err
}

// check finds exactly what was acknowledged, and the record of each.
func (f *full) check(t *testing.T) {
	t.Helper()
	view(t, f.s, func(tx broker.ReadTx) {
		all, err := tx.Messages(broker.MessageFilter{})
		require.NoError(t, err)
		require.Equal(t, f.acked, ids(all))
		var recorded []string
		for _, r := range chain(t, tx) {
			recorded = append(recorded, r.Resource)
		}
		require.Equal(t, f.acked, recorded)
	})
}

// fill leaves no byte.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	for size := 1 << 20; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
		require.True(t, errors.Is(err, syscall.ENOSPC), err)
	}
}
