package launcher

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Credential is a file or directory with secrets of the operator's.
type Credential struct {
	Variable string // of the environment, which names it
	Path     string // absolute; it need not exist
}

// credentialVariables are variables that name a file or directory with secrets,
// as their programs document it. Where the file lies in a directory that is named
// it follows after a slash. A variable may name several, with colons.
var credentialVariables = []string{
	"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "BOTO_CONFIG",
	"GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "AZURE_CONFIG_DIR", "AZURE_FEDERATED_TOKEN_FILE", "OCI_CLI_CONFIG_FILE",
	"KUBECONFIG", "DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "HELM_REGISTRY_CONFIG", "TF_CLI_CONFIG_FILE",
	"GNUPGHOME", "SSH_AUTH_SOCK", "PASSWORD_STORE_DIR", "SOPS_AGE_KEY_FILE", "ANSIBLE_VAULT_PASSWORD_FILE", "XAUTHORITY",
	"NETRC", "GH_CONFIG_DIR", "GLAB_CONFIG_DIR", "NPM_CONFIG_USERCONFIG", "npm_config_userconfig", "PIP_CONFIG_FILE",
	"CARGO_HOME/credentials", "CARGO_HOME/credentials.toml", "PGPASSFILE", "MYSQL_HOME", "KRB5_KTNAME", "KRB5CCNAME",
	"VAULT_CONFIG_PATH", "PINFOLD_TOKEN_FILE",
}

// Credentials are the files and directories with secrets that variables of an
// environment name. They are covered where something shows them that is above
// them; see Config.Env and Config.RO for how to show one on purpose.
func Credentials(environ []string) (found []Credential) {
	for _, entry := range credentialVariables {
		variable, below, _ := strings.Cut(entry, "/")
		for _, kv := range environ {
			key, value, _ := strings.Cut(kv, "=")
			if key != variable {
				continue
			}
			for p := range strings.SplitSeq(value, string(filepath.ListSeparator)) {
				if filepath.IsAbs(p) { // "FILE:/tmp/x" is split there, too
					found = append(found, Credential{variable, filepath.Join(p, below)})
				}
			}
		}
	}
	return found
}

// passes reports whether Config.Env passes a variable on.
func passes(env []string, variable string) bool {
	return slices.ContainsFunc(env, func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return key == variable
	})
}

// programPlaces are what the users of daemons have as their home although it
// holds programs and data of the system.
var programPlaces = []string{
	"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/share", "/usr/include", "/usr/src", "/usr/games", "/usr/man",
	"/usr/local", "/usr/local/bin", "/usr/local/sbin", "/usr/local/lib", "/usr/local/libexec", "/usr/local/share", "/usr/local/games",
	"/etc/ssl", "/etc/pki", "/etc/alternatives",
}

// userHome reports whether a home that the password file names can hold what is
// somebody's own: it neither is nor holds a directory of the system's programs.
func userHome(home string) bool {
	return !slices.ContainsFunc(append(systemPlaces, programPlaces...), func(p string) bool { return beneath(p, home) }) &&
		!slices.ContainsFunc(systemDirs, func(p string) bool { return beneath(p, home) }) &&
		!slices.ContainsFunc([]string{"/dev", "/proc", "/sys"}, func(p string) bool { return beneath(home, p) })
}

// inSystem reports whether p lies in a system directory that is shown, or in a
// link to one.
func inSystem(system []hostEntry, p string) bool {
	return slices.ContainsFunc(system, func(e hostEntry) bool { return beneath(p, e.Path) })
}

// shownTree is a tree of the host that is shown inside.
type shownTree struct {
	from, at string
	system   bool // nobody asked for it
	home     bool // it is Config.Home
}

// cover covers what is private wherever a tree that is shown would show it. home
// is where the home is inside.
func (b *builder) cover(c Config, home string) error {
	var trees []shownTree
	for _, e := range b.host.System {
		if e.Link == "" {
			trees = append(trees, shownTree{from: e.Path, at: e.Path, system: true})
		}
	}
	for _, p := range b.host.Machine {
		trees = append(trees, shownTree{from: p, at: p, system: true})
	}
	var asked []string // the places that were asked for, on the host and inside
	for _, e := range b.host.RO {
		if e.Link == "" {
			asked = append(asked, e.Path)
			trees = append(trees, shownTree{from: e.Path, at: b.inHome(e.Path, home)})
		}
	}
	for _, l := range b.host.Layers {
		if l.Lower != "" {
			trees = append(trees, shownTree{from: l.Lower, at: l.Path})
		}
	}
	if h := b.host.HomeDir; h != "" {
		trees = append(trees, shownTree{from: h, at: home, home: true})
	}
	covered := map[string]bool{}
	for _, t := range trees {
		for _, p := range b.host.Private {
			if t.home && t.from != p && beneath(t.from, p) && slices.Contains(b.host.KeptHomes, p) {
				continue // the home that is this run's
			}
			if beneath(t.from, p) {
				return &SetupError{Step: "show " + t.from, Err: fmt.Errorf("%q holds the state of pinfold itself, or a secret's file, which no run shows", p),
					Fix: "name another directory"}
			}
			if beneath(p, t.from) {
				covered[path.Join(t.at, p[len(t.from):])] = true
			}
		}
		for _, p := range b.host.Credentials {
			// One that was asked for by its own name, or by one beneath it, is shown.
			named := slices.ContainsFunc(asked, func(a string) bool { return beneath(a, p) })
			if !named && beneath(p, t.from) && p != t.from {
				covered[path.Join(t.at, p[len(t.from):])] = true
			}
		}
		for _, p := range b.host.Homes {
			if t.system && beneath(p, t.from) && !slices.Contains(asked, p) {
				covered[p] = true
			}
		}
	}
	delete(covered, home) // something else is mounted there
	for _, v := range c.views() {
		delete(covered, v.Root) // likewise
	}
	for p := range covered {
		b.coverPlace(c, p, covered)
	}
	return nil
}

// inHome is where a path of the host is shown: what lies in Config.Home is shown
// where that is.
func (b *builder) inHome(p, home string) string {
	if h := b.host.HomeDir; h != "" && beneath(p, h) {
		return path.Join(home, p[len(h):])
	}
	return p
}

// coverPlace covers one place. Where something else is to be shown beneath it,
// such as a project in somebody's home, it becomes an empty directory that holds
// just that.
func (b *builder) coverPlace(c Config, p string, covered map[string]bool) {
	for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
		if covered[dir] {
			return
		}
	}
	b.item(p, func() {
		holds := slices.ContainsFunc(c.views(), func(v Placed) bool { return beneath(v.Root, p) }) || slices.ContainsFunc(b.items, func(it item) bool { return it.path != p && beneath(it.path, p) })
		if !holds {
			b.add(planStep{Do: doMask, Path: p})
			return
		}
		b.add(planStep{Do: doTmpfs, Path: p, Mode: 0o755, Size: setUpSize})
		b.seals = append(b.seals, p)
	})
}
