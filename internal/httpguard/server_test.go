package httpguard_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/internal/httpguard"
)

// long is a drain that fails a test which waits for it.
const long = 10 * time.Minute

func serve(t *testing.T, h http.Handler) (*httpguard.Server, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := httpguard.NewServer(&http.Server{Handler: h, ReadHeaderTimeout: long})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	return s, l.Addr().String()
}

// A connection on which nothing was sent is closed at once; Shutdown alone gives
// it 5 s, here of a clock that moves only when all wait.
func TestSilentConnectionsAreClosed(t *testing.T) {
	for name, test := range map[string]struct {
		end         func(*httpguard.Server) error
		least, most time.Duration
	}{
		"End":      {func(s *httpguard.Server) error { return s.End(long) }, 0, time.Second},
		"Shutdown": {func(s *httpguard.Server) error { return s.Shutdown(context.Background()) }, 5 * time.Second, long},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := pipes{accept: make(chan net.Conn), closed: make(chan struct{})}
				s := httpguard.NewServer(&http.Server{ReadHeaderTimeout: long})
				go func() { _ = s.Serve(l) }()
				silent, theirs := net.Pipe()
				l.accept <- theirs
				synctest.Wait()
				start := time.Now()
				require.NoError(t, test.end(s))
				require.GreaterOrEqual(t, time.Since(start), test.least)
				require.Less(t, time.Since(start), test.most)
				_, err := silent.Read(make([]byte, 1))
				require.ErrorIs(t, err, io.EOF)
			})
		})
	}
}

// pipes is a listener in memory.
type pipes struct {
	accept chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

// What is being answered is answered to its end.
func TestAnswersGoOn(t *testing.T) {
	asked, goOn := make(chan bool), make(chan bool)
	s, addr := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- true
		<-goOn
		_, _ = io.WriteString(w, "whole")
	}))
	got := make(chan string, 1)
	go func() {
		res, err := http.Get("http://" + addr)
		if err != nil {
			got <- err.Error()
			return
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		got <- string(body)
	}()
	<-asked
	ended := make(chan error, 1)
	go func() { ended <- s.End(long) }()
	require.Eventually(t, func() bool { c, err := net.Dial("tcp", addr); return err != nil || c.Close() != nil }, time.Minute, time.Millisecond)
	close(goOn)
	require.Equal(t, "whole", <-got)
	require.NoError(t, <-ended)
}

// What takes longer than the drain is cut off.
func TestDrainEnds(t *testing.T) {
	asked := make(chan bool)
	s, addr := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	failed := make(chan error, 1)
	go func() {
		res, err := http.Get("http://" + addr)
		if err == nil {
			err = res.Body.Close()
		}
		failed <- err
	}()
	<-asked
	require.NoError(t, s.End(time.Millisecond))
	require.Error(t, <-failed)
}
