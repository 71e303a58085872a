//go:build linux

package sandboxfs_test

import (
	"log"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// testLogger fails the test on what the server complains of.
func testLogger(t *testing.T) *log.Logger { return log.New(complaints{t}, "", 0) }

type complaints struct{ t *testing.T }

func (c complaints) Write(line []byte) (int, error) {
	if text := string(line); strings.Contains(text, "panic") {
		c.t.Error(text)
	} else {
		c.t.Log(strings.TrimSpace(text))
	}
	return len(line), nil
}
