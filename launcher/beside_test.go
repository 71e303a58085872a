//go:build linux

package launcher

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBeside: a second tree is shown at its own path, by its own rules, and
// what lies around it is not there.
func TestBeside(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, outside := project(t, uid)
		around := filepath.Join(filepath.Dir(root), "main")
		beside := filepath.Join(around, "shared")
		require.NoError(t, os.MkdirAll(beside+"/out", 0o755))
		require.NoError(t, os.WriteFile(beside+"/kept", []byte("old\n"), 0o644))
		require.NoError(t, os.WriteFile(around+"/secret", []byte("SECRET\n"), 0o644))
		own(t, uid, around)
		at := func(script string) string { return strings.ReplaceAll(script, "@", beside) }
		sh := func(script string) outcome {
			return run(t, job{UID: uid, Root: root, Write: []string{"out"}, Beside: []string{beside}, Tell: "watch",
				Command: []string{"sh", "-c", at(script)}}, nil)
		}
		got := sh("cat @/kept; echo new > @/out/n; echo mine > out/n; ls @/..; echo $PINFOLD_WRITE_PATHS")
		assert.Equal(t, 0, got.code, got.errOut)
		assert.Equal(t, "old\nshared\n"+root+"/out "+beside+"/out\n", got.out)
		for name, want := range map[string]string{beside + "/out/n": "new\n", root + "/out/n": "mine\n"} {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			assert.Equal(t, want, string(data))
		}
		for _, refused := range []string{
			"echo bad > @/kept", "rm @/kept", "mv @/out @/moved", "echo bad > @/../more", "cat @/../secret", "cat " + outside + "/secret",
			"ln -s . @/link", "mkdir @/dir",
		} {
			got := sh(refused)
			assert.NotEqual(t, 0, got.code, refused)
		}
		data, err := os.ReadFile(beside + "/kept")
		require.NoError(t, err)
		assert.Equal(t, "old\n", string(data))
		// Without the view between them the same can be written.
		plain := exec.Command("sh", "-c", at("echo bad > @/kept && mv @/out @/moved && mkdir @/dir && cat @/../secret"))
		if os.Getuid() == 0 {
			plain.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		}
		require.NoError(t, plain.Run())
	})
}

// TestBesideEndsWithAHungSupervisor: processes that wait for the second view
// are ended as those are that wait for the project's.
func TestBesideEndsWithAHungSupervisor(t *testing.T) {
	as(t, func(t *testing.T, uid int) {
		root, _ := project(t, uid)
		beside := filepath.Join(filepath.Dir(root), "shared")
		require.NoError(t, os.MkdirAll(beside+"/out", 0o755))
		own(t, uid, beside)
		cmd := started(t, job{UID: uid, Root: root, Write: []string{"out"}, Beside: []string{beside}, Hang: 3 * time.Second,
			Command: []string{"sh", "-c", "touch out/ready; while :; do echo x > " + beside + "/out/x; done"}})
		hang(t, cmd)
	})
}
