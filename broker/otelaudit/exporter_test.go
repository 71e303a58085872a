package otelaudit

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// collector takes logs as a collector does, and answers as it is told.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	got    []*logs.LogsData
	header http.Header
	path   string
	answer func(n int, w http.ResponseWriter)
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		zip, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		data, err := io.ReadAll(zip)
		var l logs.LogsData
		if err != nil || proto.Unmarshal(data, &l) != nil || r.Header.Get("Content-Type") != "application/x-protobuf" {
			http.Error(w, "that is no protocol", http.StatusBadRequest)
			return
		}
		c.got, c.header, c.path = append(c.got, &l), r.Header, r.URL.Path
		if c.answer != nil {
			c.answer(len(c.got), w)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) exporter(t *testing.T, opt Options) *Exporter {
	t.Helper()
	opt.Pause = time.Millisecond
	x, err := New(c.URL, opt)
	require.NoError(t, err)
	t.Cleanup(x.Close)
	return x
}

// records is a chain of n, as the broker would write it but for its hashes.
func records(n int) (list []broker.Record) {
	for i := range n {
		list = append(list, broker.Record{
			Seq: int64(i + 1), Prev: broker.Hash(fmt.Sprintf("%064x", i)), Hash: broker.Hash(fmt.Sprintf("%064x", i+1)),
			Time:      time.Date(2026, 3, 1, 12, 0, i%60, 123456000, time.UTC),
			Principal: "worker", Action: "fs.write", Resource: "src/\x1b[2J", Tool: "write_file",
			Effect: []access.Effect{access.Allow, access.Ask, access.Deny}[i%3],
			Code:   "ask", Reason: "why", Rule: "p:fs.write[0]", PolicyHash: "abc", RequestID: "0198",
		})
	}
	return list
}

// decoded is a log record as the record that it was.
func decoded(t *testing.T, l *logs.LogRecord) broker.Record {
	t.Helper()
	require.Equal(t, eventName, l.EventName)
	r := broker.Record{Time: time.Unix(0, int64(l.TimeUnixNano)).UTC()}
	for _, a := range l.Attributes {
		name, found := strings.CutPrefix(a.Key, attribute)
		require.True(t, found, a.Key)
		s := a.Value.GetStringValue()
		switch name {
		case "seq":
			r.Seq = a.Value.GetIntValue()
		case "prev":
			r.Prev = broker.Hash(s)
		case "hash":
			r.Hash = broker.Hash(s)
		case "effect":
			r.Effect = access.Effect(s)
		case "code":
			r.Code = access.Code(s)
		default:
			*map[string]*string{"principal": &r.Principal, "action": &r.Action, "resource": &r.Resource, "tool": &r.Tool,
				"reason": &r.Reason, "rule": &r.Rule, "policy_hash": &r.PolicyHash, "request_id": &r.RequestID}[name] = s
		}
	}
	return r
}

// A1: what a collector decodes, by OpenTelemetry's own types, is what was
// recorded, every field of it, in order and each once.
func TestExport(t *testing.T) {
	c := newCollector(t)
	sent := records(2*batch + 3)
	sent[1].Tool, sent[1].Principal = "", "" // absent, as they are
	x := c.exporter(t, Options{Version: "v9", Header: http.Header{"X-Key": {"secret"}}})
	require.NoError(t, x.Export(t.Context(), sent))
	require.Equal(t, "/v1/logs", c.path)
	require.Equal(t, "secret", c.header.Get("X-Key"))
	require.Len(t, c.got, 3)
	var got []broker.Record
	for _, data := range c.got {
		require.Len(t, data.ResourceLogs, 1)
		require.True(t, slices.ContainsFunc(data.ResourceLogs[0].Resource.Attributes, func(a *common.KeyValue) bool {
			return a.Key == "service.name" && a.Value.GetStringValue() == "pinfold"
		}))
		require.Equal(t, "v9", data.ResourceLogs[0].ScopeLogs[0].Scope.Version)
		for _, l := range data.ResourceLogs[0].ScopeLogs[0].LogRecords {
			got = append(got, decoded(t, l))
		}
	}
	require.Equal(t, sent, got)
	first := c.got[0].ResourceLogs[0].ScopeLogs[0].LogRecords
	require.Equal(t, logs.SeverityNumber_SEVERITY_NUMBER_WARN, first[2].SeverityNumber)
	require.Equal(t, "worker deny fs.write src/\x1b[2J (ask)", first[2].Body.GetStringValue())
	require.NoError(t, x.Export(t.Context(), nil))
	require.Len(t, c.got, 3)
}

// What a collector cannot take now is sent again; what it refuses, or takes only
// in part, is an error that names the records.
func TestRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(n int, w http.ResponseWriter)
		sent   int
		err    string
	}{
		"taken":          {sent: 1},
		"later":          {answer: func(n int, w http.ResponseWriter) { busy(n < 3, w) }, sent: 3},
		"never":          {answer: func(_ int, w http.ResponseWriter) { busy(true, w) }, sent: 4, err: "503"},
		"for good":       {answer: func(_ int, w http.ResponseWriter) { http.Error(w, "no\x1b[2J", http.StatusForbidden) }, sent: 1, err: `403 Forbidden: "no\x1b[2J"`},
		"in part":        {answer: func(_ int, w http.ResponseWriter) { _, _ = w.Write(rejection(2, "too old")) }, sent: 1, err: `refused 2 of them: "too old"`},
		"with a warning": {answer: func(_ int, w http.ResponseWriter) { _, _ = w.Write(rejection(0, "slow down")) }, sent: 1},
		"with nonsense":  {answer: func(_ int, w http.ResponseWriter) { _, _ = w.Write([]byte{0xff, 0xff}) }, sent: 1},
		"by another": {answer: func(_ int, w http.ResponseWriter) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, sent: 1, err: "307"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollector(t)
			c.answer = tt.answer
			err := c.exporter(t, Options{Tries: 4}).Export(t.Context(), records(3))
			require.Len(t, c.got, tt.sent)
			if tt.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "records 1 to 3: ")
			require.ErrorContains(t, err, tt.err)
		})
	}
}

func busy(is bool, w http.ResponseWriter) {
	if is {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// rejection is an ExportLogsServiceResponse.
func rejection(n uint64, why string) []byte {
	var inner []byte
	inner = protowire.AppendVarint(protowire.AppendTag(inner, 1, protowire.VarintType), n)
	inner = protowire.AppendString(protowire.AppendTag(inner, 2, protowire.BytesType), why)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner)
}

// A collector that is away is an error, at once where nobody waits any more.
func TestAway(t *testing.T) {
	c := newCollector(t)
	c.Close()
	require.Error(t, c.exporter(t, Options{Tries: 2}).Export(t.Context(), records(1)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x, err := New(c.URL, Options{Pause: time.Hour})
	require.NoError(t, err)
	require.ErrorIs(t, x.Export(ctx, records(1)), context.Canceled)
	for _, url := range []string{"", "localhost:4318", "ftp://x", "http://"} {
		_, err := New(url, Options{})
		require.ErrorContains(t, err, "is none", url)
	}
	_, err = New("http://user:hunter2@x", Options{})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hunter2")
	_, err = New("https://x.example:4318/otlp/logs", Options{})
	require.NoError(t, err)
}
