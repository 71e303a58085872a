package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/integration/ops"
)

// opening is a line of strace in which a path is opened.
var opening = regexp.MustCompile(`\bopen(at2?)?\((?:AT_FDCWD, |\d+, )?"([^"]*)"(.*)`)

// TestOpensAreResolved watches a server's system calls (V15): after the start
// no path with a slash is opened without RESOLVE_ flags, in which a link that
// somebody plants could be followed.
func TestOpensAreResolved(t *testing.T) {
	if !isRoot {
		return // under strace, fusermount3 has no power
	}
	s := newSite(t, 0, true)
	for _, dir := range []string{"/out/deep", "/src/deep"} {
		require.NoError(t, os.MkdirAll(s.root+dir, 0o755))
	}
	require.NoError(t, os.WriteFile(s.root+"/src/deep/f", []byte("f"), 0o644))
	at, log := tempDir(t, 0), s.base+"/strace"
	server := start(t, exec.Command("strace", "-f", "-s", "4096", "-e", "trace=open,openat,openat2,write", "-o", log, insiderPath, "view"), 0)
	c := ops.ViewConfig{Dir: at, Config: config(s, []string{"-w", "out"}, modes[0])}
	require.NoError(t, json.NewEncoder(server.in).Encode(c))
	line, err := server.out.ReadString('\n')
	require.NoError(t, err, server.stderr.String())
	require.Equal(t, "ready\n", line)
	// Everything that has a slash in its path and an own operation in the view.
	work := exec.Command("sh", "-eu", "-c", `cat src/deep/f; cp -r src out/copy; ls -lR . ; mv out/copy/deep/f out/deep/g
		echo a >>out/deep/g; chmod 600 out/deep/g; ln out/deep/g out/deep/h; ln -s g out/deep/l; cat out/deep/l; truncate -s 0 out/deep/g; rm -r out/copy; ! touch src/deep/n`)
	work.Dir = at
	runToEnd(t, work)
	require.NoError(t, server.in.Close())
	require.True(t, server.wait(opLimit))

	text, err := os.ReadFile(log)
	require.NoError(t, err)
	_, after, started := strings.Cut(string(text), `write(1, "ready\n"`)
	require.True(t, started, "the trace does not show the start")
	resolved := 0
	for line := range strings.Lines(after) {
		m := opening.FindStringSubmatch(line)
		switch {
		case m == nil || !strings.Contains(m[2], "/") || ownBusiness.MatchString(m[2]):
		case m[1] == "at2" && strings.Contains(m[3], "RESOLVE_"):
			resolved++
		default:
			t.Errorf("opened without RESOLVE_ flags: %s", line)
		}
	}
	require.NotZero(t, resolved, "nothing with a slash was opened: the test proves nothing")
}

// ownBusiness are files of the kernel that a server may open at any time: the
// runtime counts processors, and an unmount ends its connection by fusectl.
var ownBusiness = regexp.MustCompile(`^/sys/|^\d+/abort$`)
