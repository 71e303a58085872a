package network

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reader is a program that uses the network, gets at a file's content in some way, and
// then tries to use the network as before. It waits for a line before it reads, and
// before it ends.
const reader = `import http.client, http.server, json, os, socket, sys, threading
def get(c, path):
    c.request("GET", path)
    return c.getresponse().read().decode()
def new(host, port=80): return http.client.HTTPConnection(host, port, timeout=60)
class Inside(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200); self.send_header("Content-Length", "6"); self.end_headers(); self.wfile.write(b"inside")
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer.handle_error = lambda *a: None
server = http.server.ThreadingHTTPServer(("127.0.0.1", 7070), Inside)
threading.Thread(target=server.serve_forever, daemon=True).start()
kept, local = new("allowed.test"), new("localhost", 8082)
got, tries = None, {
    "kept": lambda: get(kept, "/kept-" + str(got)), "local": lambda: get(local, "/local-" + str(got)),
    "new": lambda: get(new("allowed.test"), "/new-" + str(got)), "name": lambda: socket.gethostbyname("more.allowed.test"),
}
def attempts():
    said = {}
    for name, do in tries.items():
        try: do(); said[name] = ""
        except Exception as e: said[name] = repr(e)
    return said
def race(n):
    while True:
        try: get(new("allowed.test"), "/race-" + str(got))
        except Exception: pass
threads = [threading.Thread(target=race, args=(n,), daemon=True) for n in range(4)]
before = attempts()
open("plain").read()
again = attempts()
for t in threads: t.start()
print("ready", flush=True)
sys.stdin.readline()
try:
    if sys.argv[1] == "rename": os.rename("dir/secret", "dir/plain"); got = open("dir/plain").read()
    elif sys.argv[1] == "rename-dir": os.rename("dir", "away"); got = open("away/secret").read()
    elif sys.argv[1] == "link": os.link("dir/secret", "linked"); got = open("linked").read()
    else: got = open("dir/secret").read()
except OSError as e: print(repr(e), file=sys.stderr)
after = attempts()
print(json.dumps({"before": before, "again": again, "after": after, "got": got}), flush=True)
sys.stdin.readline()
os._exit(0)
`

// TestNetworkAfterRead: once a file that --after-read names was read, nothing goes out of
// the run any more, nor in.
func TestNetworkAfterRead(t *testing.T) {
	if !onStage(t) {
		return
	}
	w, g := newWorld(t), newGround(t)
	http.DefaultTransport.(*http.Transport).DisableKeepAlives = true
	for _, c := range []struct {
		glob, way string
		closes    bool
	}{{"other", "read", false}, {"dir/secret", "read", true}, {"**/secret", "rename", true}, {"dir/*", "link", true}, {"dir/secret", "rename-dir", true}} {
		name := c.glob + " " + c.way
		dir := filepath.Join(g.dir, "dir")
		_ = os.RemoveAll(filepath.Join(g.dir, "away"))
		_ = os.Remove(filepath.Join(g.dir, "linked"))
		require.NoError(t, os.RemoveAll(dir))
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("s3cret"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(g.dir, "plain"), []byte("plain"), 0o644))
		report := filepath.Join(t.TempDir(), "report")
		cmd := g.run(append(allowFlags, "-w", ".", "--publish", "9090:7070", "--after-read", c.glob, "--report", report), "python3", "-c", reader, c.way)
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		var said strings.Builder
		cmd.Stderr = &said
		require.NoError(t, cmd.Start())
		lines := bufio.NewReader(out)
		line, err := lines.ReadString('\n')
		require.NoError(t, err, "%s %s", name, said.String())
		require.Equal(t, "ready\n", line)

		inward, err := net.Dial("tcp", "127.0.0.1:9090")
		require.NoError(t, err)
		ask := func() error {
			if _, err := io.WriteString(inward, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
				return err
			}
			require.NoError(t, inward.SetReadDeadline(time.Now().Add(time.Minute)))
			resp, err := http.ReadResponse(bufio.NewReader(inward), nil)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			_, err = io.ReadAll(resp.Body)
			return err
		}
		require.NoError(t, ask())
		soon := func(what string) {
			require.Eventually(t, func() bool { return w.has(what) }, time.Minute, time.Millisecond, "%s: %s", name, what)
		}
		soon("race-None") // the threads are at it
		_, err = io.WriteString(in, "go on\n")
		require.NoError(t, err)
		line, err = lines.ReadString('\n')
		require.NoError(t, err, "%s %s", name, said.String())
		var result struct {
			Before, Again, After map[string]string
			Got                  string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &result), "%s", line)
		if !c.closes {
			soon("race-s3cret")
		}
		reached := ask()
		_, published := net.Dial("tcp", "127.0.0.1:9090")
		require.NoError(t, in.Close())
		require.NoError(t, cmd.Wait(), said.String())
		_ = inward.Close()

		for _, when := range []map[string]string{result.Before, result.Again} {
			for what, failed := range when {
				assert.Empty(t, failed, "%s: %s before the read", name, what)
			}
		}
		t.Logf("%s: got %q %s", name, result.Got, said.String())
		if result.Got == "" { // that way does not lead to it
			assert.NotContains(t, []string{"read"}, c.way, said.String())
			continue
		}
		assert.Equal(t, "s3cret", result.Got)
		for what, failed := range result.After {
			assert.Equal(t, c.closes, failed != "", "%s: %s after the read", name, what)
		}
		assert.Equal(t, c.closes, reached != nil, "%s: a kept connection inward", name)
		assert.Equal(t, c.closes, published != nil, "%s: a published port", name)
		heard := w.since()
		assert.True(t, heard["kept-None"] && heard["race-None"], name)
		for _, what := range []string{"kept", "local", "new", "race"} {
			assert.Equal(t, !c.closes, heard[what+"-s3cret"], "%s: %s", name, what)
		}
		text, err := os.ReadFile(report)
		require.NoError(t, err)
		assert.Equal(t, c.closes, strings.Contains(string(text), `"network_closed":{"path":"dir/secret","program":"python3`), "%s", text)
	}
}
