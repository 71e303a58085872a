package caches

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Cache is a cache of a program, as the program documents it.
type Cache struct {
	Name string // what --cache calls it
	Dirs []Dir
	// Proof says what Promote goes by; "" where nothing proves what lies there.
	Proof string
	// Unproved says why nothing is promoted.
	Unproved string
}

// Dir is a directory that the program is told.
type Dir struct {
	// Variable tells the program where the directory is.
	Variable string
	// At are places where it may lie, of which the first counts that can be said:
	// $VARIABLE of the host, of a list its first entry, and ~ for the home.
	At    []string
	Parts []Part
}

// Part is a directory beneath a Dir that has a layer. What is in no part is not shown:
// it is private to the run and ends with it, as what else lies in a private home.
type Part struct {
	ID   string // within the cache; the name of its directory in the layer
	Path string // beneath the Dir; "" is all of it
	// Own is a part of which the host's content is not shown.
	Own bool
	// Hide are directories beneath the part of which the host's content is not shown.
	Hide []string
}

// Table are the caches there are. What may hold secrets is no part of one, or hidden.
func Table() []Cache {
	return []Cache{
		{
			// https://go.dev/ref/mod#module-cache; 'go help environment'. The build cache needs
			// the modules at the host's path: the path of a package is part of its action ID.
			// cache/vcs holds clones of repositories, whose configuration may name passwords,
			// and no build reads it. GOFLAGS=-modcacherw is not needed: an overlay lets go
			// make its directories read-only as outside.
			Name: "go",
			Dirs: []Dir{
				{Variable: "GOMODCACHE", At: []string{"$GOMODCACHE", "$GOPATH/pkg/mod", "~/go/pkg/mod"}, Parts: []Part{{ID: "mod", Hide: []string{"cache/vcs"}}}},
				{Variable: "GOCACHE", At: []string{"$GOCACHE", "$XDG_CACHE_HOME/go-build", "~/.cache/go-build"}, Parts: []Part{{ID: "build"}}},
			},
			Proof: "go.sum",
		},
		{
			// https://docs.npmjs.com/cli/v11/using-npm/config#cache and cacache's README: content
			// lies at its hash. The index keeps headers of requests, which may hold a
			// token, and _logs what commands printed: of both nothing is shown. 'npm ci' finds
			// what package-lock.json names by its integrity, without the index.
			Name: "npm",
			Dirs: []Dir{{Variable: "npm_config_cache", At: []string{"$npm_config_cache", "$NPM_CONFIG_CACHE", "~/.npm"}, Parts: []Part{
				{ID: "content", Path: "_cacache/content-v2"}, {ID: "index", Path: "_cacache/index-v5", Own: true},
			}}},
			Proof: "package-lock.json",
		},
		{
			// https://pip.pypa.io/en/stable/topics/caching/. http-v2, and http of pip before 23.3,
			// hold answers as they came, with headers that may hold a token: the layer begins
			// empty there.
			Name: "pip",
			Dirs: []Dir{{Variable: "PIP_CACHE_DIR", At: []string{"$PIP_CACHE_DIR", "$XDG_CACHE_HOME/pip", "~/.cache/pip"}, Parts: []Part{
				{ID: "wheels", Path: "wheels"}, {ID: "http", Path: "http-v2", Own: true}, {ID: "older", Path: "http", Own: true},
			}}},
			Unproved: "an answer lies under a hash of its address, and no checksum says which address it came from",
		},
		{
			// https://doc.rust-lang.org/cargo/guide/cargo-home.html. credentials.toml, config.toml and
			// bin are no parts.
			Name: "cargo",
			Dirs: []Dir{{Variable: "CARGO_HOME", At: []string{"$CARGO_HOME", "~/.cargo"}, Parts: []Part{
				{ID: "registry", Path: "registry"}, {ID: "git", Path: "git"},
			}}},
			Unproved: "pinfold does not read Cargo.lock",
		},
	}
}

// Names are the names of the caches there are.
func Names() (names []string) {
	for _, c := range Table() {
		names = append(names, c.Name)
	}
	return names
}

// Find is the cache of that name.
func Find(name string) (Cache, bool) {
	table := Table()
	i := slices.IndexFunc(table, func(c Cache) bool { return c.Name == name })
	if i < 0 {
		return Cache{}, false
	}
	return table[i], true
}

// Host is what places are found by: the home, absolute, "" if there is none, and the
// variables.
type Host struct {
	Home      string
	LookupEnv func(string) (string, bool)
}

// ThisHost is that of this process.
func ThisHost() Host {
	home, _ := os.UserHomeDir()
	if !filepath.IsAbs(home) {
		home = ""
	}
	return Host{Home: home, LookupEnv: os.LookupEnv}
}

// Place is where the directory lies, absolute and clean; "" where that cannot be said.
func (h Host) Place(d Dir) string {
	for _, at := range d.At {
		first, rest, _ := strings.Cut(at, "/")
		base := h.Home
		if name, ok := strings.CutPrefix(first, "$"); ok {
			base, _ = h.LookupEnv(name)
			if list := filepath.SplitList(base); len(list) > 0 {
				base = list[0]
			}
		}
		if filepath.IsAbs(base) {
			return filepath.Join(base, filepath.FromSlash(rest))
		}
	}
	return ""
}
