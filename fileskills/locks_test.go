package fileskills

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLocks(t *testing.T) {
	var l locks
	ctx := context.Background()
	unlock, waited, err := l.lock(ctx, "a")
	require.NoError(t, err)
	require.False(t, waited)
	other, waited, err := l.lock(ctx, "b") // another file is not in the way
	require.NoError(t, err)
	require.False(t, waited)
	other()

	gone, cancel := context.WithCancel(ctx)
	cancel()
	_, _, err = l.lock(gone, "a")
	require.ErrorIs(t, err, context.Canceled)

	got := make(chan bool)
	go func() {
		unlock, waited, _ := l.lock(ctx, "a")
		unlock()
		got <- waited
	}()
	unlock()
	<-got
	require.Empty(t, l.held, "nothing is kept of locks that nobody holds")

	n := 0
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			unlock, _, err := l.lock(ctx, "a")
			if err == nil {
				n++ // for the race detector, and the count
				unlock()
			}
		})
	}
	all.Wait()
	require.Equal(t, 50, n)
}

func TestSeenIsBounded(t *testing.T) {
	var s seen
	for i := range maxSeen + 10 {
		s.note(seenFile{place: string(rune(i))}, "x")
		s.note(seenFile{place: string(rune(i))}, "y")
	}
	require.Len(t, s.hash, maxSeen)
	require.Len(t, s.order, maxSeen)
	require.Empty(t, s.get(seenFile{place: string(rune(0))}))
	require.Equal(t, "y", s.get(seenFile{place: string(rune(maxSeen + 9))}))
}

func TestNearest(t *testing.T) {
	names := []string{"config.yaml", "main.go", "README.md", ""}
	for name, want := range map[string]string{
		"config.yml": "config.yaml", "Readme.md": "README.md", "mian.go": "main.go",
		"other": "", "": "", "x": "",
	} {
		require.Equal(t, want, nearest(name, names), name)
	}
}
