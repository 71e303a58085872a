//go:build linux

package launcher

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/internal/confine"
)

// TestConfine: once the command runs the supervisor serves the project and has no
// rights to anything else.
func TestConfine(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		for _, confined := range []bool{false, true} {
			t.Run(fmt.Sprintf("confined=%v", confined), func(t *testing.T) {
				root, outside := project(t, uid)
				cmd := supervisor(t, job{
					UID: uid, Root: root, Write: []string{"out"}, Unconfined: !confined, Reach: outside + "/secret",
					Command: []string{"sh", "-c", `echo running; read line; set -e; cat ok.txt; echo new > out/n
						mkdir -p out/a/b; mv out/n out/a/b/; ln out/a/b/n out/m; rm out/a/b/n; cat out/m; rm -r out/a out/m
						printf '#!/bin/sh\necho script\n' > out/s; chmod +x out/s; out/s`},
				})
				var errOut strings.Builder
				cmd.Stderr = &errOut
				stdin, err := cmd.StdinPipe()
				require.NoError(t, err)
				stdout, err := cmd.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, cmd.Start())
				lines := bufio.NewScanner(stdout)
				require.True(t, lines.Scan(), lines.Err())
				noNewPrivs, capabilities := rightsOf(t, cmd.Process.Pid)
				_, err = stdin.Write([]byte("go on\n"))
				require.NoError(t, err)
				var said []string
				for lines.Scan() {
					said = append(said, lines.Text())
				}
				end(t, cmd)
				assert.Equal(t, []string{"ok", "new", "script"}, said, errOut.String())
				if !confined {
					assert.Contains(t, errOut.String(), "reached: <nil>")
					assert.Equal(t, "0", noNewPrivs)
					assert.Equal(t, uid == 0, capabilities&^confine.ServesFiles != 0)
					return
				}
				assert.Contains(t, errOut.String(), "reached: open "+outside+"/secret: permission denied")
				assert.Equal(t, "1", noNewPrivs)
				assert.Zero(t, capabilities&^confine.ServesFiles)
			})
		}
	})
}

// TestWithoutLandlock: a kernel that has none runs the command all the same, and it
// is said.
func TestWithoutLandlock(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, outside := project(t, uid)
		got := run(t, job{UID: uid, Root: root, NoLandlock: true, Reach: outside + "/secret", Command: []string{"cat", "ok.txt"}}, nil)
		assert.Equal(t, 0, got.code, got.errOut)
		assert.Equal(t, "ok\n", got.out)
		assert.Contains(t, got.errOut, "lost: no Landlock")
		assert.Contains(t, got.errOut, "reached: <nil>")
	})
}

// rightsOf are those that /proc/PID/status shows.
func rightsOf(t *testing.T, pid int) (noNewPrivs string, permitted confine.Capabilities) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), ":\t"); key {
		case "NoNewPrivs":
			noNewPrivs = value
		case "CapPrm":
			n, err := strconv.ParseUint(value, 16, 64)
			require.NoError(t, err)
			permitted = confine.Capabilities(n)
		}
	}
	return noNewPrivs, permitted
}
