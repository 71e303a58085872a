package launcher

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pinfold-dev/pinfold/sandboxfs"
)

var update = flag.Bool("update", false, "write the golden files")

// fakeMounts is a view that is only planned for.
type fakeMounts struct {
	View
	mounts []sandboxfs.Mount
}

func (f fakeMounts) Mounts() []sandboxfs.Mount { return f.mounts }

func debian() hostFacts {
	return hostFacts{
		ID: userID{UID: 1000, GID: 1000, Name: "me", Home: "/home/me"},
		System: []hostEntry{{Path: "/usr"}, {Path: "/bin", Link: "usr/bin"}, {Path: "/lib", Link: "usr/lib"},
			{Path: "/etc"}, {Path: "/opt"}},
		Machine:    []string{processors, "/var/lib/dpkg/info", "/var/lib/dpkg/status"},
		ResolvConf: "/run/systemd/resolve/stub-resolv.conf",
		Memory:     16 << 30,
		Tasks:      2048,
		Self:       "/usr/local/bin/pinfold",
		Env:        []string{"PATH=/usr/bin:/bin", "TERM=xterm", "LC_ALL=C", "SECRET=1", "WANTED=2"},
	}
}

func TestPlans(t *testing.T) {
	split := fakeMounts{mounts: []sandboxfs.Mount{{Place: ".", ReadOnly: true}, {Place: "out"}, {Place: "src"}}}
	base := Config{Root: "/srv/project", View: split, WritePaths: []string{"out", "src"}, Command: []string{"make", "all"}}
	root := debian()
	root.Privileged = true
	root.ID = userID{Name: "root", Home: "/root"}
	root.MachinePrivate = []string{processors + "/cpu0/crash_notes", processors + "/cpu1/crash_notes"}

	for name, make := range map[string]func() (Config, hostFacts){
		"user": func() (Config, hostFacts) { return base, debian() },
		"root": func() (Config, hostFacts) { return base, root },
		"root-as-user": func() (Config, hostFacts) {
			h := root
			h.ID = userID{UID: 33, GID: 33, Groups: []int{33, 44}, Name: "www-data", Home: "/var/www"}
			c := base
			c.User = "www-data"
			return c, h
		},
		"project-in-home": func() (Config, hostFacts) {
			c := base
			c.Root, c.Dir = "/home/me/code/project", "/home/me/code/project/src"
			return c, debian()
		},
		"project-in-tmp": func() (Config, hostFacts) {
			c := base
			c.Root = "/tmp/a/b/project"
			return c, debian()
		},
		"all-in-tmp": func() (Config, hostFacts) {
			c, h := base, debian()
			c.Root, h.ID.Home = "/tmp/x/code/project", "/tmp/x/home"
			h.RO = []hostEntry{{Path: "/tmp/x/home/tool"}, {Path: "/tmp/y/tool"}}
			return c, h
		},
		"home-and-ro": func() (Config, hostFacts) {
			c, h := base, debian()
			c.Home, h.HomeDir = "x", "/data/agent-home"
			h.ID = userID{Name: "root", Home: "/root"}
			h.Privileged = true
			h.RO = []hostEntry{{Path: "/opt/private"}, {Path: "/home/me/.nvm/v20"}, {Path: "/home/me/node", Link: "/home/me/.nvm/v20"},
				{Path: "/usr/share"}, {Path: "/data/agent-home/.config"}, {Path: "/root/sdk/go"}}
			return c, h
		},
		"home-of-a-daemon": func() (Config, hostFacts) {
			c, h := base, debian()
			c.Home, h.HomeDir, h.ID.Home = "x", "/data/agent-home", "/usr/sbin"
			return c, h
		},
		"home-around-project": func() (Config, hostFacts) {
			c, h := base, debian()
			c.Root, c.Home, h.HomeDir = "/home/me/code/project", "x", "/data/agent-home"
			return c, h
		},
		"beside-around": func() (Config, hostFacts) { // a git directory in the directory that holds its checkout
			c := base
			c.Root = "/srv/main/wt"
			c.Beside = []Placed{{Root: "/srv/main/.git", WritePaths: []string{"objects"},
				View: fakeMounts{mounts: []sandboxfs.Mount{{Place: "."}}}}}
			return c, debian()
		},
		"beside-in-home-and-tmp": func() (Config, hostFacts) {
			c := base
			one := fakeMounts{mounts: []sandboxfs.Mount{{Place: "."}}}
			c.Root = "/home/me/wt/project"
			c.Beside = []Placed{{Root: "/home/me/code/main/.git", View: one}, {Root: "/tmp/x/y/.git", View: one}}
			return c, debian()
		},
		"beside-in-ro": func() (Config, hostFacts) {
			c, h := base, debian()
			c.Beside = []Placed{{Root: "/data/main/.git", View: split}}
			h.RO = []hostEntry{{Path: "/data/main"}}
			return c, h
		},
		"homes-in-opt": func() (Config, hostFacts) {
			c, h := base, root
			c.Root = "/opt/dev/project"
			c.Beside = []Placed{{View: fakeMounts{mounts: []sandboxfs.Mount{{Place: "."}}}, Root: "/usr/repos/project.git"}}
			h.Homes = []string{"/opt/dev", "/opt/shown", "/opt/svc", "/usr/repos", "/usr/svc"}
			h.RO = []hostEntry{{Path: "/opt/shown"}, {Path: "/opt/svc/tool"}, {Path: "/opt"}}
			return c, h
		},
		"own-home-in-opt": func() (Config, hostFacts) {
			h := debian()
			h.ID.Home = "/opt/me"
			h.Homes = []string{"/opt/me", "/opt/other"}
			return base, h
		},
		"caches": func() (Config, hostFacts) {
			h := debian()
			h.RO = []hostEntry{{Path: "/home/me/go"}}
			h.Layers = []hostLayer{{Path: "/home/me/go/pkg/mod", Lower: "/home/me/go/pkg/mod", Dir: "/state/mod"},
				{Path: "/home/me/.cache/go-build", Lower: "/data/build", Dir: "/state/build"}, {Path: "/home/me/.npm/index", Dir: "/state/npm"}}
			h.Credentials = []string{"/home/me/go/pkg/mod/cache/token"}
			return base, h
		},
		"private": func() (Config, hostFacts) {
			h := debian()
			h.RO = []hostEntry{{Path: "/home/me"}, {Path: "/data/keys/aws"}, {Path: "/srv/cloud/bin"}, {Path: "/home/me/link", Link: "/data/keys/aws"}}
			h.Private = []string{"/home/me/.local/state/pinfold", "/srv/other/pinfold"}
			h.Credentials = []string{"/home/me/.netrc", "/data/keys/aws", "/srv/cloud", "/etc/registry.json", "/home/me/.local/state/pinfold/token"}
			return base, h
		},
		"private-home": func() (Config, hostFacts) {
			c, h := base, debian()
			c.Home, h.HomeDir = "x", "/data/agent-home"
			h.RO = []hostEntry{{Path: "/home/me/sdk"}}
			h.Private = []string{"/home/me/.local/state/pinfold", "/data/agent-home/state/pinfold", "/home/me/sdk/state"}
			h.Credentials = []string{"/home/me/.netrc", "/data/agent-home/.docker/config.json", "/home/me/sdk/token"}
			return c, h
		},
		"root-names-system": func() (Config, hostFacts) {
			h := debian()
			h.ID = userID{Name: "root", Home: "/root"}
			h.RO = []hostEntry{{Path: "/usr"}, {Path: "/etc/ssl"}, {Path: "/etc"}}
			return base, h
		},
		"no-network": func() (Config, hostFacts) {
			c := base
			c.NoNetwork = true
			return c, debian()
		},
		"nested-files-env": func() (Config, hostFacts) {
			c := base
			c.Nested, c.Self, c.Env = true, "pinfold", []string{"WANTED", "ABSENT", "SET=3"}
			c.Files = map[string][]byte{"/run/pinfold/policy.json": []byte("{}")}
			c.Sockets = map[string]string{"/run/pinfold/broker.sock": "/state/agents/a.sock"}
			h := debian()
			h.Sockets = []hostNode{{Path: "/run/pinfold/broker.sock", From: "/state/agents/a.sock", Is: fileID{1, 2}}}
			h.Sockets = append(h.Sockets, hostNode{Path: "/run/user/1000/gnupg/S.gpg-agent", From: "/run/user/1000/gnupg/S.gpg-agent.extra", Is: fileID{1, 3}})
			h.Devices = []hostNode{{Path: "/dev/dri/renderD128", From: "/dev/dri/renderD128", Is: fileID{1, 4}}}
			c.Secrets = map[string]Secret{"TOKEN": Secret("x")}
			c.SecretFiles = map[string]Secret{"key": Secret("x")}
			h.Profile = []byte("PATH=/usr/bin:/bin\n")
			return c, h
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, h := make()
			p, err := newPlan(c, h)
			require.NoError(t, err)
			golden := filepath.Join("testdata", name+".plan")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(golden, []byte(p.String()), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), p.String())
		})
	}
}

func TestPlansRefused(t *testing.T) {
	ok := Config{Root: "/srv/project", Command: []string{"true"}}
	_, err := newPlan(ok, debian())
	require.NoError(t, err)
	for name, spoil := range map[string]func(*Config, *hostFacts){
		"no command":          func(c *Config, _ *hostFacts) { c.Command = nil },
		"empty command":       func(c *Config, _ *hostFacts) { c.Command = []string{""} },
		"user as a user":      func(c *Config, _ *hostFacts) { c.User = "root" },
		"relative root":       func(c *Config, _ *hostFacts) { c.Root = "project" },
		"unclean root":        func(c *Config, _ *hostFacts) { c.Root = "/srv/../project" },
		"everything":          func(c *Config, _ *hostFacts) { c.Root = "/" },
		"project in proc":     func(c *Config, _ *hostFacts) { c.Root = "/proc/self" },
		"home is project":     func(_ *Config, h *hostFacts) { h.HomeDir = "/srv/project" },
		"home in project":     func(_ *Config, h *hostFacts) { h.HomeDir = "/srv/project/home" },
		"project in home":     func(_ *Config, h *hostFacts) { h.HomeDir = "/srv" },
		"home is sysfs":       func(_ *Config, h *hostFacts) { h.HomeDir = "/sys" },
		"home in run":         func(_ *Config, h *hostFacts) { h.HomeDir = "/run/user/1000" },
		"home is everything":  func(_ *Config, h *hostFacts) { h.HomeDir = "/" },
		"home in usr":         func(_ *Config, h *hostFacts) { h.HomeDir = "/usr/local" },
		"ro is everything":    func(_ *Config, h *hostFacts) { h.RO = []hostEntry{{Path: "/"}} },
		"ro is proc":          func(_ *Config, h *hostFacts) { h.RO = []hostEntry{{Path: "/proc/1"}} },
		"ro is the home":      func(_ *Config, h *hostFacts) { h.HomeDir, h.RO = "/data/home", []hostEntry{{Path: "/home/me"}} },
		"ro is what home has": func(_ *Config, h *hostFacts) { h.HomeDir, h.RO = "/data/home", []hostEntry{{Path: "/data/home"}} },
		"ro in project":       func(_ *Config, h *hostFacts) { h.RO = []hostEntry{{Path: "/srv/project/out"}} },
		"beside in project":   func(c *Config, _ *hostFacts) { c.Beside = []Placed{{Root: "/srv/project/.git"}} },
		"beside the project":  func(c *Config, _ *hostFacts) { c.Beside = []Placed{{Root: "/srv/project"}} },
		"beside around":       func(c *Config, _ *hostFacts) { c.Beside = []Placed{{Root: "/srv"}} },
		"beside everything":   func(c *Config, _ *hostFacts) { c.Beside = []Placed{{Root: "/"}} },
		"beside relative":     func(c *Config, _ *hostFacts) { c.Beside = []Placed{{Root: "main/.git"}} },
		"beside in proc":      func(c *Config, _ *hostFacts) { c.Beside = []Placed{{Root: "/proc/1/root"}} },
		"beside in home":      func(c *Config, h *hostFacts) { h.HomeDir, c.Beside = "/data/home", []Placed{{Root: "/data/home/x"}} },
		"beside holds home":   func(c *Config, h *hostFacts) { h.HomeDir, c.Beside = "/data/home", []Placed{{Root: "/data"}} },
		"beside each other":   func(c *Config, _ *hostFacts) { c.Beside = []Placed{{Root: "/data/a"}, {Root: "/data/a/b"}} },
		"file outside of run": func(c *Config, _ *hostFacts) { c.Files = map[string][]byte{"/etc/passwd": nil} },
		"socket in project":   func(c *Config, _ *hostFacts) { c.Sockets = map[string]string{"/srv/project/s": "/s"} },
		"ro in our state": func(_ *Config, h *hostFacts) {
			h.RO, h.Private = []hostEntry{{Path: "/x/state/run"}}, []string{"/x/state"}
		},
		"ro is our state":   func(_ *Config, h *hostFacts) { h.RO, h.Private = []hostEntry{{Path: "/x/state"}}, []string{"/x/state"} },
		"home in our state": func(_ *Config, h *hostFacts) { h.HomeDir, h.Private = "/x/state/h", []string{"/x/state"} },
		"cache is relative": func(_ *Config, h *hostFacts) { h.Layers = []hostLayer{{Path: "c", Dir: "/s"}} },
		"cache in project":  func(_ *Config, h *hostFacts) { h.Layers = []hostLayer{{Path: "/srv/project/c", Dir: "/s"}} },
		"project in cache":  func(_ *Config, h *hostFacts) { h.Layers = []hostLayer{{Path: "/srv", Dir: "/s"}} },
		"lower in project": func(_ *Config, h *hostFacts) {
			h.Layers = []hostLayer{{Path: "/c", Lower: "/srv/project/c", Dir: "/s"}}
		},
		"cache in beside": func(c *Config, h *hostFacts) {
			c.Beside, h.Layers = []Placed{{Root: "/data/git"}}, []hostLayer{{Path: "/data/git/c", Dir: "/s"}}
		},
		"cache is the home":    func(_ *Config, h *hostFacts) { h.Layers = []hostLayer{{Path: "/home/me", Dir: "/s"}} },
		"lower holds the home": func(_ *Config, h *hostFacts) { h.Layers = []hostLayer{{Path: "/c", Lower: "/home", Dir: "/s"}} },
		"lower in the home": func(_ *Config, h *hostFacts) {
			h.HomeDir, h.Layers = "/data/home", []hostLayer{{Path: "/c", Lower: "/data/home/c", Dir: "/s"}}
		},
		"lower is etc": func(_ *Config, h *hostFacts) { h.Layers = []hostLayer{{Path: "/c", Lower: "/etc", Dir: "/s"}} },
		"cache in usr": func(_ *Config, h *hostFacts) { h.Layers = []hostLayer{{Path: "/usr/cache", Dir: "/s"}} },
		"caches in one another": func(_ *Config, h *hostFacts) {
			h.Layers = []hostLayer{{Path: "/c", Dir: "/s"}, {Path: "/c/d", Dir: "/t"}}
		},
		"ro in a cache": func(_ *Config, h *hostFacts) {
			h.RO, h.Layers = []hostEntry{{Path: "/c/d"}}, []hostLayer{{Path: "/c", Dir: "/s"}}
		},
		"lower is our state": func(_ *Config, h *hostFacts) {
			h.Private, h.Layers = []string{"/x/state"}, []hostLayer{{Path: "/c", Lower: "/x/state/c", Dir: "/s"}}
		},
		"another user's cache": func(c *Config, h *hostFacts) {
			h.Privileged, c.User, h.Layers = true, "www-data", []hostLayer{{Path: "/c", Dir: "/s"}}
		},
		"file with dots": func(c *Config, _ *hostFacts) { c.Files = map[string][]byte{"/run/../etc/x": nil} },
	} {
		c, h := ok, debian()
		spoil(&c, &h)
		_, err := newPlan(c, h)
		var se *SetupError
		assert.True(t, errors.As(err, &se), "%s: %v", name, err)
	}
}
