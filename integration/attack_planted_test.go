package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAttackPlantedLinks: a run replaces what the operator is going to name by a
// link. The next run does not show where that leads, and says what to name.
func TestAttackPlantedLinks(t *testing.T) {
	onEachRun(t, "planted", func(t *testing.T, uid int) {
		for _, c := range []struct {
			name         string
			first, plant string // flags of the first run, and what it does
			then, cat    string // flags of the second, and what it prints
		}{
			{"ro-in-home", "--home %/home", "ln -s %/keys ~/tools", "--ro %/home/tools", "%/keys/id"},
			{"ro-above", "--home %/home", "mkdir ~/a && ln -s %/keys ~/a/b", "--ro %/home/a/b/id", "%/keys/id"},
			{"ro-chain", "--home %/home", "ln -s %/keys ~/x && ln -s x ~/tools", "--ro %/mine/tools", "%/keys/id"},
			{"ro-same-run", "--home %/home", "ln -s %/keys ~/tools", "--home %/home --ro %/home/tools", "%/keys/id"},
			{"ro-in-project", "-w out", "ln -s %/keys out/tools", "-C %/other --ro %/root/out/tools", "%/keys/id"},
			{"home", "--home %/home", "ln -s %/keys ~/next", "--home %/home/next", "~/id"},
			{"project", "--home %/home", "ln -s %/keys ~/work", "-C %/home/work", "id"},
			{"project-in-project", "-w .", "mkdir sub; ln -s %/keys sub/work", "-C %/root/sub/work", "id"},
		} {
			s := newSite(t, uid, true)
			s.files(map[string]string{"keys/id": secret, "home/.keep": "", "root/out/.keep": "", "other/.keep": ""})
			require.NoError(t, os.Symlink("home", filepath.Join(s.base, "mine")))
			at := func(text string) string { return strings.ReplaceAll(text, "%", s.base) }
			if isRoot {
				require.NoError(t, os.Chown(s.base, uid, uid))
			}
			as := func(state string, program ...string) *exec.Cmd {
				cmd := asUser(uid, modes[0], program...)
				cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(s.base, state), "HOME=/home/me")
				return cmd
			}
			run := func(state, flags, command string) string {
				return printed(t, as(state, "/bin/sh", "-c", fmt.Sprintf("exec %s run -C %s/root %s -- sh -c '%s'", pinfold, s.base, flags, command)))
			}
			require.Empty(t, run("state", at(c.first), at(c.plant)), c.name)
			out := run("state", at(c.then), "cat "+at(c.cat))
			assert.NotContains(t, out, secret, c.name)
			assert.Contains(t, out, "a link in a place that a run could write", c.name)
			assert.Contains(t, out, "if that is what you mean, name it", c.name)
			if c.name != "ro-same-run" { // which knows the place without a record
				assert.Contains(t, run("other", at(c.then), "cat "+at(c.cat)), secret, "%s: without the record", c.name)
			}
			if c.name != "project" {
				continue
			}
			project := s.base + "/home/work"
			mnt := tempDir(t, uid)
			for name, read := range map[string]func(state string) string{
				"skills": func(state string) string {
					return printed(t, as(state, pinfold, "skill", "call", "-C", project, "read_file", `{"path":"id"}`))
				},
				"mcp": func(state string) string { return readOverMCP(t, as(state, pinfold, "mcp", "-C", project), "id") },
				"mount": func(state string) string {
					return printed(t, as(state, "/bin/sh", "-c", fmt.Sprintf("%s mount -C %s %s && { cat %[3]s/id; %[1]s unmount %[3]s; }", pinfold, project, mnt)))
				},
			} {
				out := read("state")
				assert.NotContains(t, out, secret, name)
				assert.Contains(t, out, "a link in a place that a run could write", name)
				if assert.Contains(t, read("other"), secret, "%s: without the record", name) && !t.Failed() {
					tableRow(t, "planted", surfaceOf(name, uid))
				}
			}
		}
	})
}

// TestLinksOfTheOperator: links that no run could make are followed, as are those
// in a home that stay in it.
func TestLinksOfTheOperator(t *testing.T) {
	for _, surface := range surfaces {
		run, ok := surface.(runSurface)
		if !ok {
			continue
		}
		t.Run(run.name, func(t *testing.T) {
			s := newSite(t, run.uid, true)
			s.files(map[string]string{"share/versions/1": "the tool", "home/versions/2": "its own tool", "bin/.keep": ""})
			require.NoError(t, os.Symlink("../share/versions/1", filepath.Join(s.base, "bin/tool")))
			require.NoError(t, os.Symlink("versions/2", filepath.Join(s.base, "home/tool")))
			require.NoError(t, os.Symlink("root", filepath.Join(s.base, "project")))
			require.NoError(t, os.Mkdir(filepath.Join(s.base, "state"), 0o755))
			s.own()
			for range 2 { // the second with a record of the first
				cmd := asUser(run.uid, modes[0], "/bin/sh", "-c", fmt.Sprintf(
					"%[1]s run -C %[2]s/project -w . --home %[2]s/home --ro %[2]s/bin/tool --ro %[2]s/home/tool -- sh -c 'cat %[2]s/bin/tool ~/tool'", pinfold, s.base))
				cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+s.base+"/state", "HOME=/home/me")
				require.Equal(t, "the toolits own tool", printed(t, cmd))
			}
		})
	}
}
