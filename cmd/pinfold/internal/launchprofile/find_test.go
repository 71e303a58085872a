package launchprofile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// site is a made-up machine beneath a directory: usr is its system, home a home.
type site struct {
	t    *testing.T
	base string
	host Host
}

func newSite(t *testing.T, path ...string) *site {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	s := &site{t: t, base: base}
	dirs := []string{"relative/bin"}
	for _, dir := range path {
		dirs = append(dirs, s.at(dir))
	}
	s.host = Host{
		Path: strings.Join(dirs, ":"), Home: s.at("home"),
		System: func(p string) bool { return strings.HasPrefix(p, s.at("usr")+"/") },
	}
	return s
}

func (s *site) at(p string) string { return filepath.Join(s.base, p) }

// file makes a program, or with "-> " a link.
func (s *site) file(name, content string) {
	s.t.Helper()
	at := s.at(name)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(at), 0o755))
	if to, link := strings.CutPrefix(content, "-> "); link {
		require.NoError(s.t, os.Symlink(to, at))
		return
	}
	require.NoError(s.t, os.WriteFile(at, []byte(strings.ReplaceAll(content, "BASE", s.base)), 0o755))
}

func (s *site) paths(list ...string) []string {
	out := []string{}
	for _, p := range list {
		out = append(out, s.at(p))
	}
	return out
}

const nodeScript = "#!/usr/bin/env node\nrequire('x')\n"

// TestFind finds what each way of installing an agent leaves on a disk.
func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		path    []string
		files   [][2]string
		lookIn  []string
		layouts []string
		program string // what is started; "" is agent
		found   string
		show    []string
		version string
	}{
		"in a system directory": {
			path: []string{"usr/bin"}, files: [][2]string{{"usr/bin/agent", "\x7fELF"}},
			found: "usr/bin/agent",
		},
		"npm as root": {
			path: []string{"usr/bin"},
			files: [][2]string{
				{"usr/bin/agent", "-> ../lib/node_modules/@v/agent/cli.js"}, {"usr/bin/node", "\x7fELF"},
				{"usr/lib/node_modules/@v/agent/cli.js", nodeScript}, {"usr/lib/node_modules/@v/agent/package.json", `{"version": "2.1.7"}`},
			},
			found: "usr/bin/agent", version: "2.1.7",
		},
		"npm with a prefix in the home": {
			path: []string{"usr/bin", "home/.local/bin"},
			files: [][2]string{
				{"home/.local/bin/agent", "-> ../lib/node_modules/@v/agent/bin/cli.js"}, {"usr/bin/node", "\x7fELF"},
				{"home/.local/lib/node_modules/@v/agent/bin/cli.js", nodeScript},
				{"home/.local/lib/node_modules/@v/agent/package.json", `{"version": "0.61.0"}`},
				{"home/.local/lib/node_modules/@v/agent/node_modules/@v/agent-linux-x64/agent", "\x7fELF"},
			},
			found: "home/.local/bin/agent", show: []string{"home/.local/bin/agent", "home/.local/lib/node_modules"}, version: "0.61.0",
		},
		"npm in a directory, with the platform's package beside it": {
			path: []string{"home/agents/node_modules/.bin", "usr/bin"},
			files: [][2]string{
				{"home/agents/node_modules/.bin/agent", "-> ../agent-ai/bin/agent"}, {"usr/bin/node", "\x7fELF"},
				{"home/agents/node_modules/agent-ai/bin/agent", nodeScript},
				{"home/agents/node_modules/agent-ai/package.json", `{"version": "1.18.3"}`},
				{"home/agents/node_modules/agent-linux-x64/bin/agent", "\x7fELF"},
			},
			found: "home/agents/node_modules/.bin/agent", show: []string{"home/agents/node_modules"}, version: "1.18.3",
		},
		"npm of nvm, whose node lies in the home": {
			path: []string{"home/.nvm/versions/node/v22.1.0/bin"},
			files: [][2]string{
				{"home/.nvm/versions/node/v22.1.0/bin/agent", "-> ../lib/node_modules/agent/cli.js"},
				{"home/.nvm/versions/node/v22.1.0/bin/node", "\x7fELF"},
				{"home/.nvm/versions/node/v22.1.0/lib/node_modules/npm/package.json", "{}"},
				{"home/.nvm/versions/node/v22.1.0/lib/node_modules/agent/cli.js", "#!/usr/bin/env -S node --no-warnings\n"},
			},
			found: "home/.nvm/versions/node/v22.1.0/bin/agent", show: []string{"home/.nvm/versions/node/v22.1.0"},
		},
		"node alone, in a directory that others share": {
			path: []string{"home/.local/bin"},
			files: [][2]string{
				{"home/.local/bin/agent", "-> ../lib/node_modules/agent/cli.js"}, {"home/.local/bin/node", "\x7fELF"}, {"home/.local/bin/other", "secret"},
				{"home/.local/lib/node_modules/npm/package.json", "{}"}, {"home/.local/lib/node_modules/agent/cli.js", nodeScript},
			},
			found: "home/.local/bin/agent", show: []string{"home/.local/bin/agent", "home/.local/bin/node", "home/.local/lib/node_modules"},
		},
		"its own installer": {
			path: []string{"home/.local/bin"}, layouts: []string{"~/.local/share/agent"},
			files: [][2]string{
				{"home/.local/bin/agent", "-> BASE/home/.local/share/agent/versions/2.1.197"},
				{"home/.local/share/agent/versions/2.1.197", "\x7fELF"},
			},
			found: "home/.local/bin/agent", show: []string{"home/.local/bin/agent", "home/.local/share/agent"}, version: "2.1.197",
		},
		"beside PATH": {
			lookIn: []string{"~/none", "~/.agent/bin/agent"},
			files:  [][2]string{{"home/.agent/bin/agent", "\x7fELF"}},
			found:  "home/.agent/bin/agent", program: "home/.agent/bin/agent", show: []string{"home/.agent/bin/agent"},
		},
		"a chain of links": {
			path:  []string{"home/bin"},
			files: [][2]string{{"home/bin/agent", "-> ../opt/current/agent"}, {"home/opt/current", "-> v2"}, {"home/opt/v2/agent", "-> real"}, {"home/opt/v2/real", "\x7fELF"}},
			found: "home/bin/agent", show: []string{"home/bin/agent"}, // run shows where a name leads
		},
		"a directory of PATH that is a link": {
			path:  []string{"home/bin"},
			files: [][2]string{{"home/bin", "-> tools"}, {"home/tools/agent", "\x7fELF"}},
			found: "home/bin/agent", program: "home/tools/agent", show: []string{"home/tools/agent"},
		},
		"volta, bun and their like": {
			path:  []string{"home/.volta/bin"},
			files: [][2]string{{"home/.volta/bin/agent", "-> shim"}, {"home/.volta/bin/shim", "\x7fELF"}},
			found: "home/.volta/bin/agent", show: []string{"home/.volta"},
		},
		"a script whose interpreter is a script": {
			path:  []string{"home/bin"},
			files: [][2]string{{"home/bin/agent", "#!BASE/home/lib/interp\n"}, {"home/lib/interp", "#!BASE/home/lib/sh\n"}, {"home/lib/sh", "\x7fELF"}},
			found: "home/bin/agent", show: []string{"home/bin/agent", "home/lib/interp", "home/lib/sh"},
		},
		"a virtual environment": {
			path: []string{"home/envs/x/bin"},
			files: [][2]string{
				{"home/envs/x/pyvenv.cfg", "home = BASE/home/.pyenv/versions/3.12.1/bin\n"}, {"home/envs/x/bin/agent", "#!BASE/home/envs/x/bin/python3\n"},
				{"home/envs/x/bin/python3", "-> BASE/home/.pyenv/versions/3.12.1/bin/python3.12"}, {"home/.pyenv/versions/3.12.1/bin/python3.12", "\x7fELF"},
			},
			found: "home/envs/x/bin/agent", show: []string{"home/.pyenv", "home/envs/x"},
		},
		"a home that passes for a virtual environment": {
			path:  []string{"home/bin"},
			files: [][2]string{{"home/pyvenv.cfg", ""}, {"home/bin/agent", "\x7fELF"}},
			found: "home/bin/agent", show: []string{"home/bin/agent"},
		},
		"a script that is its own interpreter": {
			path:  []string{"home/bin"},
			files: [][2]string{{"home/bin/agent", "#!BASE/home/bin/agent\n"}},
			found: "home/bin/agent", show: []string{"home/bin/agent"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, c.path...)
			for _, f := range c.files {
				s.file(f[0], strings.ReplaceAll(f[1], "BASE", s.base))
			}
			got, err := Find(s.host, "agent", c.lookIn, c.layouts)
			require.NoError(t, err)
			require.Equal(t, s.at(c.found), got.Path)
			program := "agent"
			if c.program != "" {
				program = s.at(c.program)
			}
			require.Equal(t, program, got.Program)
			require.Equal(t, s.paths(c.show...), got.Show)
			require.Equal(t, c.version, got.Version)
		})
	}
}

// What an agent could have written says nothing of what the next run shows: neither a
// program nor a link in the project, nor the first line of a script there.
func TestFindFollowsNothingUnsafe(t *testing.T) {
	plant := map[string][][2]string{
		"a link in the project": {{"project/bin/agent", "-> BASE/home/.ssh/id"}, {"home/.ssh/id", "key"}},
		"a script of it":        {{"project/bin/agent", "#!BASE/home/.ssh/id\n"}, {"home/.ssh/id", "key"}},
	}
	for name, files := range plant {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "project/bin")
			for _, f := range files {
				s.file(f[0], strings.ReplaceAll(f[1], "BASE", s.base))
			}
			unguarded, err := Find(s.host, "agent", nil, nil)
			require.NoError(t, err)
			require.NotEmpty(t, unguarded.Show)

			s.host.Unsafe = s.paths("project")
			_, err = Find(s.host, "agent", nil, nil)
			require.True(t, NotFound(err))
			require.ErrorContains(t, err, "which lies where agents write")

			// the next one in PATH is taken instead
			s.file("home/bin/agent", "\x7fELF")
			s.host.Path += ":" + s.at("home/bin")
			got, err := Find(s.host, "agent", nil, nil)
			require.NoError(t, err)
			require.Equal(t, s.at("home/bin/agent"), got.Path)
		})
	}
	t.Run("a good script with an interpreter there", func(t *testing.T) {
		s := newSite(t, "home/bin")
		s.file("home/bin/agent", "#!"+s.at("project/sh")+"\n")
		s.file("project/sh", "\x7fELF")
		_, err := Find(s.host, "agent", nil, nil)
		require.NoError(t, err)
		s.host.Unsafe = s.paths("project")
		_, err = Find(s.host, "agent", nil, nil)
		require.ErrorContains(t, err, "lies where agents write")
		require.False(t, NotFound(err))
	})
	t.Run("what is shown beside it", func(t *testing.T) {
		s := newSite(t)
		s.file("home/.gitconfig", "x")
		require.Equal(t, s.paths("home/.gitconfig"), s.host.Existing([]string{"~/.gitconfig", "~/none"}))
		s.host.Unsafe = s.paths("home")
		require.Empty(t, s.host.Existing([]string{"~/.gitconfig"}))
	})
}

func TestFindNothing(t *testing.T) {
	s := newSite(t, "home/bin")
	for _, name := range []string{"agent", "./agent"} {
		_, err := Find(s.host, name, []string{"~/agent"}, nil)
		require.True(t, NotFound(err), name)
	}
	s.file("home/bin/agent", "\x7fELF")
	require.NoError(t, os.Chmod(s.at("home/bin/agent"), 0o644))
	_, err := Find(s.host, "agent", nil, nil)
	require.True(t, NotFound(err), "it cannot be executed")
}

// A first line or a package.json that is odd is no more than unknown.
func TestFindOdd(t *testing.T) {
	s := newSite(t, "home/bin")
	s.file("home/bin/agent", "#!\n")
	for _, odd := range []string{"home/bin/agent", "home"} {
		interpreter, argument := Interpreter(s.at(odd))
		require.Empty(t, interpreter+argument)
	}
	s.file("home/node_modules/agent/package.json", `{"version": "1\u001b[2J"}`)
	s.file("home/node_modules/agent/cli", "x")
	got, err := Find(s.host, s.at("home/node_modules/agent/cli"), nil, nil)
	require.NoError(t, err)
	require.Empty(t, got.Version)
	require.Equal(t, s.paths("home/node_modules"), got.Show)
}
