package sqlitestore_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/sqlitestore"
)

// fullDisk names the directory over which TestFullDisk mounts its small disk,
// in a process that is in namespaces of its own.
const fullDisk = "PINFOLD_TEST_FULL_DISK"

// TestFullDisk: on a full disk an update is refused with the reason, nothing
// that was acknowledged is lost, reading goes on, and updates are taken again
// once there is space, by the same store and by one that is opened anew.
func TestFullDisk(t *testing.T) {
	dir := os.Getenv(fullDisk)
	if dir == "" {
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), fullDisk+"="+t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS: TestFullDisk")
		return
	}

	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"))
	path, ballast := filepath.Join(dir, "broker.db"), filepath.Join(dir, "ballast")
	store, err := sqlitestore.Open(t.Context(), path)
	require.NoError(t, err)
	var acked []string
	put := func(s broker.Store, id string, size int) error {
		err := s.Update(t.Context(), func(tx broker.Tx) error {
			_, err := tx.InsertMessage(broker.Message{ID: id, RecipientID: "a", Content: strings.Repeat("x", size)})
			return err
		})
		if err == nil {
			acked = append(acked, id)
		}
		return err
	}
	there := func(s broker.Store) {
		t.Helper()
		require.NoError(t, s.View(t.Context(), func(tx broker.ReadTx) error {
			all, err := tx.Messages(broker.MessageFilter{})
			require.NoError(t, err)
			var ids []string
			for _, m := range all {
				ids = append(ids, m.ID)
			}
			require.Equal(t, acked, ids)
			return nil
		}))
	}
	number := 0
	next := func() string { number++; return "m" + strings.Repeat("i", number) }
	require.NoError(t, put(store, next(), 100))

	for round := range 3 {
		fill(t, ballast)
		// Until no page is left in what the log has already.
		size := 64 << 10
		var refused error
		for range 10_000 {
			if err := put(store, next(), size); err != nil {
				refused = err
				if size /= 4; size == 0 {
					break
				}
			}
		}
		require.ErrorIs(t, refused, broker.ErrFull)
		require.ErrorContains(t, refused, "no space left for the broker's database")
		require.Zero(t, size)
		require.ErrorIs(t, put(store, next(), 100), broker.ErrFull)
		there(store)

		require.NoError(t, os.Remove(ballast))
		require.NoError(t, put(store, next(), 10_000), "there is space again")
		there(store)
		if round == 1 {
			require.NoError(t, store.Close())
			store, err = sqlitestore.Open(t.Context(), path)
			require.NoError(t, err)
			there(store)
		}
	}
	require.NoError(t, store.Close())
}

// fill leaves no byte.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	for size := 1 << 20; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
		require.True(t, errors.Is(err, syscall.ENOSPC), err)
	}
}
