package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// privatePlaces are the directories with what pinfold itself keeps for this user:
// the databases of its brokers, their sockets and tokens. No agent is ever shown
// one: it could answer its own requests there. All but the first exist.
func privatePlaces() (dirs []string) {
	if base, err := userState(); err == nil {
		dirs = append(dirs, filepath.Join(base, "pinfold"))
	}
	known := func(dir string) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	if base := os.Getenv("XDG_RUNTIME_DIR"); base != "" {
		known(filepath.Join(base, "pinfold"))
	}
	if base, err := os.UserConfigDir(); err == nil {
		known(filepath.Join(base, "pinfold"))
	}
	if socket := os.Getenv("PINFOLD_SOCKET"); socket != "" && !insideRun() {
		// Of a broker with another --state-dir: its own, or one for an agent.
		for _, dir := range []string{filepath.Dir(socket), filepath.Dir(filepath.Dir(socket))} {
			if info, err := os.Lstat(brokerhttp.OperatorSocket(dir)); err == nil && info.Mode()&os.ModeSocket != 0 {
				known(dir)
			}
		}
	}
	return dirs
}

// statePlace is the directory in which runs keep what later ones read, where there
// is one.
func statePlace() []string {
	base, err := userState()
	if err != nil {
		return nil
	}
	dir := filepath.Join(base, "pinfold")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil
	}
	return []string{dir}
}

// hidePrivate hides in a project what pinfold itself keeps there, whether or not
// it exists yet, under each name that the host's mounts give it. A project that
// lies in such a directory is refused.
func hidePrivate(cfg pathresolver.Config) (pathresolver.Config, error) {
	root, err := hostpath.Resolve(cfg.Root)
	if err != nil || cfg.Root == "" {
		return cfg, nil // which the resolver refuses, and says why
	}
	mounts, err := hostpath.ReadMounts()
	if err != nil {
		return cfg, err
	}
	for _, dir := range privatePlaces() {
		real, _, err := hostpath.Place(dir)
		if hostpath.Unreachable(err) {
			continue // nothing is there, and nothing can be
		}
		if err != nil {
			return cfg, err
		}
		for _, name := range mounts.Names(real) {
			if _, in := hostpath.Beneath(root.Real, name); in {
				return cfg, &exitError{code: exitFailed, err: fmt.Errorf("'%s' lies in '%s', where pinfold keeps its own state", pathresolver.EscapePath(root.Real), pathresolver.EscapePath(name)),
					hint: "choose another directory with -C"}
			}
			place, in := hostpath.Beneath(name, root.Real)
			glob := escapeGlob(filepath.ToSlash(place))
			if in && !slices.Contains(cfg.Hide, glob) {
				cfg.Hide = append(slices.Clip(cfg.Hide), glob)
			}
		}
	}
	return cfg, nil
}
