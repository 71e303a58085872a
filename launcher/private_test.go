//go:build linux

package launcher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPasswdHomes(t *testing.T) {
	homes, err := passwdHomes(strings.NewReader(`root:x:0:0:root:/root:/bin/sh
svc:x:1:1::/opt/svc/:/bin/sh
again:x:2:2::/opt//svc:/bin/sh
# a comment, and what NIS leaves
+::::::
short:x:1
relative:x:3:3::home:/bin/sh
odd:x:4:4:a:/opt/with space:
`))
	require.NoError(t, err)
	assert.Equal(t, []string{"/root", "/opt/svc", "/opt/with space"}, homes)
	_, err = passwdHomes(strings.NewReader(strings.Repeat("x", 1<<20)))
	assert.Error(t, err, "a line without an end")
}

func TestUserHome(t *testing.T) {
	for home, want := range map[string]bool{
		"/opt/svc": true, "/usr/svc": true, "/usr/local/svc": true, "/etc/someone": true, "/usr/share/svc": true, "/nix/store/x": true,
		"/": false, "/usr": false, "/opt": false, "/bin": false, "/usr/sbin": false, "/usr/games": false, "/etc": false, "/dev": false,
		"/dev/null": false, "/proc/1": false, "/usr/local": false, "/nix": false, "/nix/store": false,
	} {
		assert.Equal(t, want, userHome(home), home)
	}
}

func TestCredentials(t *testing.T) {
	got := Credentials([]string{
		"KUBECONFIG=/a:relative::/b", "CARGO_HOME=/c/", "KRB5CCNAME=FILE:/tmp/krb", "PATH=/usr/bin", "NETRC=", "DOCKER_CONFIG=/d/../e",
	})
	var all []string
	for _, c := range got {
		all = append(all, c.Variable+" "+c.Path)
	}
	assert.ElementsMatch(t, []string{"KUBECONFIG /a", "KUBECONFIG /b", "CARGO_HOME /c/credentials", "CARGO_HOME /c/credentials.toml",
		"KRB5CCNAME /tmp/krb", "DOCKER_CONFIG /e"}, all)
	assert.Empty(t, Credentials(nil))
}

// A directory of the caller's own is made where it would be seen later, and
// nowhere else.
func TestPrivateIsMade(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	shown, hidden := filepath.Join(base, "shown"), filepath.Join(base, "hidden")
	require.NoError(t, os.Mkdir(shown, 0o755))
	require.NoError(t, os.Mkdir(hidden, 0o755))
	require.NoError(t, os.Symlink("shown", filepath.Join(base, "link")))
	h, err := lookAtHost(Config{RO: []string{shown}, Private: []string{base + "/link/a/own", hidden + "/own"}})
	require.NoError(t, err)
	assert.Equal(t, []string{shown + "/a/own"}, h.Private)
	info, err := os.Stat(shown + "/a/own")
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	assert.NoFileExists(t, hidden+"/own")

	require.NoError(t, os.WriteFile(shown+"/file", nil, 0o644))
	h, err = lookAtHost(Config{RO: []string{shown}, Private: []string{shown + "/file/own"}})
	require.NoError(t, err)
	assert.Empty(t, h.Private, "nothing can be there")
	require.NoError(t, os.Symlink("loop", shown+"/loop"))
	_, err = lookAtHost(Config{RO: []string{shown}, Private: []string{shown + "/loop/own"}})
	assert.ErrorContains(t, err, "find what is private", "what cannot be told is refused")
	_, err = lookAtHost(Config{Private: []string{"relative"}})
	assert.Error(t, err)
}
