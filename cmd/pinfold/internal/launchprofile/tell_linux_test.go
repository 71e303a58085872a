package launchprofile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/internal/hostpath"
)

// What an agent leaves where the rules are told is neither waited for nor read into
// memory, and a home that was made a link since its path was followed is not written.
func TestTellInAHomeThatAnAgentPrepared(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := &Profile{TellHome: map[string]string{"text": "words"}}
	for name, plant := range map[string]func(file string) error{
		"a FIFO":              func(file string) error { return syscall.Mkfifo(file, 0o600) },
		"a file without end":  func(file string) error { return os.WriteFile(file, nil, 0o600) },
		"an empty directory":  func(file string) error { return os.Mkdir(file, 0o700) },
		"a link to a device":  func(file string) error { return os.Symlink("/dev/zero", file) },
		"a file of its words": func(file string) error { return os.WriteFile(file, []byte("WORDS"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(base, "text")
			require.NoError(t, plant(file))
			if name == "a file without end" {
				require.NoError(t, os.Truncate(file, 1<<40))
			}
			require.NoError(t, p.TellIn(base, Told{File: "/run/rules"}))
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, "words", string(text))
			require.NoError(t, os.Remove(file))
		})
	}
	link := filepath.Join(base, "link")
	require.NoError(t, os.Symlink(base, link))
	require.Error(t, p.TellIn(link, Told{File: "/run/rules"}))
	require.NoFileExists(t, filepath.Join(base, "text"))
}

// What root makes in the home of another user is that user's; what was there stays as
// it is.
func TestTellInTheHomeOfAnotherUser(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(home, "there"), 0o700))
	uid := os.Geteuid()
	if uid == 0 {
		uid = 65534
		require.NoError(t, os.Chown(home, uid, uid))
	}
	p := &Profile{TellHome: map[string]string{"there/a/b/text": "words", "there/link": "{file}"}}
	require.NoError(t, p.TellIn(home, Told{File: "/run/rules"}))
	for path, want := range map[string]int{"there": os.Geteuid(), "there/a": uid, "there/a/b": uid, "there/a/b/text": uid, "there/link": uid} {
		owner, known := hostpath.Owner(filepath.Join(home, path))
		require.True(t, known)
		require.Equal(t, want, owner, path)
	}
}
