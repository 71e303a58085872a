package gitrepo

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A repository that an agent made does not have the operator's fetch read a
// repository beyond the project, or run a program; those of other hosts, and in the
// project, it may name.
func TestRemotesOfMadeRepositories(t *testing.T) {
	for value, ok := range map[string]bool{
		"https://example.org/x.git": true, "git@example.org:x.git": true, "ssh://example.org/x": true, "example.org:x/y": true,
		"/project/remote.git": true, "file:///project/remote.git": true, "../remote.git": true, "../../remote": true, ".": true,
		"/home/me/private": false, "/project-2/x": false, "/project/../home": false, "file:///home/me": false, "file://host/x": false,
		"../../../private": false, "../../..": false, "./../../../x": false, "-x": false, "ext::sh -c x": false,
	} {
		for _, key := range []string{"[remote \"o\"]\n\turl", "[remote \"o\"]\n\tpushurl", "[submodule \"s\"]\n\turl", "[branch \"m\"]\n\tremote", "[remote]\n\tpushDefault", "[remotes]\n\tgroup"} {
			if value == "ext::sh -c x" && key == "[remotes]\n\tgroup" {
				value = "ext::sh"
			}
			_, err := CheckMade([]byte(key+" = "+value+"\n"), "/project", "src/lib/.git")
			require.Equal(t, ok, err == nil, "%s = %s: %v", key, value, err)
		}
	}
	for _, value := range []string{"origin", "up-stream", "a.b"} {
		_, err := CheckMade([]byte("[branch \"m\"]\n\tremote = "+value+"\n[remotes]\n\tall = "+value+" other\n"), "/project", "src/.git")
		require.NoError(t, err)
	}
	_, err := CheckMade([]byte("[remote \"o\"]\n\turl = ../x\n"), "/project", ".git")
	require.Error(t, err, "from the top of the project")
	_, err = CheckMade([]byte("[remote \"o\"]\n\turl = ../x\n"), "/project", ".git/modules/s")
	require.Error(t, err, "where its work tree is, is not known")
	paths, err := CheckMade([]byte("[remote \"o\"]\n\turl = ../x\n\tpushurl = file:///project/y/\n"), "/project", "src/.git")
	require.NoError(t, err)
	require.Equal(t, []string{"/project/x", "/project/y"}, paths)
}
