package integration

import (
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkoutParts is the directory that .ci/checkouts has prepared.
func checkoutParts(t *testing.T) string {
	t.Helper()
	dir, err := checkoutsDir()
	require.NoError(t, err)
	return dir
}

var checkoutsDir = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("sh", "../.ci/checkouts").Output()
	return strings.TrimSpace(string(out)), err
})
