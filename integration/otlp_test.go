package integration

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// TestAuditToACollector: `pinfold audit export --otlp` hands a collector every
// record, whole and in order (A1, A2), and says up to where to go on from.
func TestAuditToACollector(t *testing.T) {
	p := startBroker(t)
	op := p.as("")
	_, err := op.Hire(t.Context(), brokerhttp.HireBody{ID: "worker", Cwd: t.TempDir(), Policy: &brokerhttp.Text{Name: "p.yaml", Text: askingForSrc}})
	require.NoError(t, err)
	r, err := p.as("worker").Ask(t.Context(), askSrc(1))
	require.NoError(t, err)
	_, err = op.Deny(t.Context(), r.ID, brokerhttp.DenyBody{Reason: "no"})
	require.NoError(t, err)

	var mu sync.Mutex
	var got []*logs.LogRecord
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		zip, err := gzip.NewReader(r.Body)
		if err != nil || r.Header.Get("X-Key") != "a key" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		data, err := io.ReadAll(zip)
		var l logs.LogsData
		if err != nil || proto.Unmarshal(data, &l) != nil {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, l.ResourceLogs[0].ScopeLogs[0].LogRecords...)
	}))
	defer collector.Close()
	export := func(key string, args ...string) (string, error) {
		cmd := exec.Command(pinfold, append([]string{"audit", "export", "--otlp", collector.URL}, args...)...)
		cmd.Env = append(os.Environ(), "PINFOLD_SOCKET="+brokerhttp.OperatorSocket(p.dir), "OTEL_EXPORTER_OTLP_HEADERS=x-key="+key)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	var want []broker.Record
	require.NoError(t, op.Audit(t.Context(), 0, false, func(r broker.Record) error {
		want = append(want, r)
		return nil
	}))
	require.GreaterOrEqual(t, len(want), 3)

	out, err := export("another")
	require.Error(t, err)
	require.Contains(t, out, "401 Unauthorized")
	require.Contains(t, out, "sent 0 records")
	require.Empty(t, got)
	out, err = export("a%20key")
	require.NoError(t, err, out)
	require.Contains(t, out, "up to number ")
	require.Len(t, got, len(want))
	for i, l := range got {
		attributes := map[string]string{}
		for _, a := range l.Attributes {
			attributes[strings.TrimPrefix(a.Key, "pinfold.audit.")] = a.Value.GetStringValue()
		}
		w := want[i]
		require.Equal(t, []string{string(w.Prev), string(w.Hash), w.Action, w.Resource, string(w.Effect), w.RequestID},
			[]string{attributes["prev"], attributes["hash"], attributes["action"], attributes["resource"], attributes["effect"], attributes["request_id"]})
		require.Equal(t, uint64(w.Time.UnixNano()), l.TimeUnixNano)
	}
	got = nil
	out, err = export("a%20key", "--after", "2")
	require.NoError(t, err, out)
	require.Len(t, got, len(want)-2)
}
