//go:build linux

package launcher

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pinfold inside pinfold: the inner run narrows what the outer one allows.
func TestNested(t *testing.T) {
	uid := os.Getuid()
	if uid == 0 {
		uid = ordinary
	}
	root, _ := project(t, uid)
	require.NoError(t, os.MkdirAll(root+"/out/inner/w", 0o755))
	own(t, uid, root)
	inner, err := json.Marshal(job{UID: uid, Root: root + "/out/inner", Write: []string{"w"},
		Command: []string{"sh", "-c", "pwd; echo x > w/f && echo y > g"}})
	require.NoError(t, err)
	j := job{UID: uid, Root: root, Write: []string{"out"}, Nested: true,
		Command: []string{insideProbe, "supervise", string(inner)}}
	got := run(t, j, nil)
	assert.Equal(t, root+"/out/inner\n", got.out)
	assert.Contains(t, got.errOut, "Read-only file system")
	assert.FileExists(t, root+"/out/inner/w/f")
	assert.NoFileExists(t, root+"/out/inner/g")

	j.Nested = false
	got = run(t, j, nil)
	assert.Equal(t, ExitSetup, got.code, "not without asking for it")
}
