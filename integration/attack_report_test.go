package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const (
	// moreThanReported is how often the attack is refused: more often than a
	// report of one run has lines.
	moreThanReported = 101_000
	reportedLines    = 100_000
)

func init() { attacks["refused"] = refusedOften }

func refusedOften() {
	for range moreThanReported {
		if fd, err := unix.Open("f", unix.O_WRONLY|unix.O_APPEND, 0); err == nil {
			_, _ = unix.Write(fd, []byte("."))
			_ = unix.Close(fd)
		} else if !errors.Is(err, unix.EROFS) {
			must(err)
		}
	}
}

// TestAttackReport: what an agent can make --report grow by is bounded, and the
// report says how much it leaves out.
func TestAttackReport(t *testing.T) {
	onEachRun(t, "report", func(t *testing.T, uid int) {
		s := newSite(t, uid, true)
		s.files(map[string]string{"root/f": ""})
		report := s.base + "/report"
		require.NoError(t, os.WriteFile(report, nil, 0o600))
		s.own()
		runAttack(t, pinfoldRun(s, uid, modes[0], []string{"--report", report}, insiderPath, "attack", "refused"))
		text, err := os.ReadFile(report)
		require.NoError(t, err)
		lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
		require.LessOrEqual(t, len(lines), reportedLines+10)
		missing := 0
		for _, line := range lines {
			var l struct{ Omitted, Unjudged int }
			require.NoError(t, json.Unmarshal(line, &l))
			missing += l.Omitted + l.Unjudged
		}
		fmt.Printf("[table] O07 %s: %d refusals, %d lines of %d MiB, %d said to be left out\n",
			surfaceOf("run", uid), moreThanReported, len(lines), len(text)>>20, missing)
		require.NotZero(t, missing, "it says that it leaves something out")

		cmd := asUser(uid, modes[0], insiderPath, "attack", "refused")
		cmd.Dir = s.root
		runAttack(t, cmd)
		info, err := os.Stat(s.root + "/f")
		require.NoError(t, err)
		require.EqualValues(t, moreThanReported, info.Size(), "without the guard each of them does something")
	})
}
