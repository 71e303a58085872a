package hostfile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/launchprofile"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// HidePrivate hides in a project what pinfold itself keeps there, whether or not
// it exists yet, the homes of agents among it, under each name that the host's mounts give it. A project that
// lies in such a directory is refused.
func HidePrivate(cfg pathresolver.Config) (pathresolver.Config, error) {
	root, err := hostpath.Resolve(cfg.Root)
	if err != nil || cfg.Root == "" {
		return cfg, nil // which the resolver refuses, and says why
	}
	mounts, err := hostpath.ReadMounts()
	if err != nil {
		return cfg, err
	}
	private := state.Private()
	if dir := launchprofile.HomesDir(); dir != "" {
		private = append(private, dir)
	}
	for _, dir := range private {
		real, _, err := hostpath.Place(dir)
		if hostpath.Unreachable(err) {
			continue // nothing is there, and nothing can be
		}
		if err != nil {
			return cfg, err
		}
		for _, name := range mounts.Names(real) {
			if _, in := hostpath.Beneath(root.Real, name); in {
				return cfg, &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("'%s' lies in '%s', where pinfold keeps its own state", pathresolver.EscapePath(root.Real), pathresolver.EscapePath(name)),
					Hint: "choose another directory with -C"}
			}
			hide(&cfg, root.Real, name)
		}
	}
	return cfg, nil
}

// HideFiles hides files in a project, real absolute paths, under each name that the
// host's mounts give them.
func HideFiles(cfg pathresolver.Config, files []string) (pathresolver.Config, error) {
	root, err := hostpath.Resolve(cfg.Root)
	if err != nil || len(files) == 0 {
		return cfg, nil // which the resolver refuses, and says why
	}
	mounts, err := hostpath.ReadMounts()
	if err != nil {
		return cfg, err
	}
	for _, file := range files {
		for _, name := range mounts.Names(file) {
			hide(&cfg, root.Real, name)
		}
	}
	return cfg, nil
}

// hide hides a path of the host in the project at root, if it lies there.
func hide(cfg *pathresolver.Config, root, path string) {
	place, in := hostpath.Beneath(path, root)
	glob := EscapeGlob(filepath.ToSlash(place))
	if in && !slices.Contains(cfg.Hide, glob) {
		cfg.Hide = append(slices.Clip(cfg.Hide), glob)
	}
}

// IsPrivate reports whether a path without links is or lies in one of dirs, under any
// name that the host's mounts give them.
func IsPrivate(real string, dirs []string) (bool, error) {
	mounts, err := hostpath.ReadMounts()
	if err != nil {
		return false, err
	}
	for _, dir := range dirs {
		at, _, err := hostpath.Place(dir)
		if hostpath.Unreachable(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		for _, name := range mounts.Names(at) {
			if _, in := hostpath.Beneath(real, name); in {
				return true, nil
			}
		}
	}
	return false, nil
}

// RealPath is absolute and without links.
func RealPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

var globEscapes = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)

// EscapeGlob is the glob that matches one place.
func EscapeGlob(place string) string { return globEscapes.Replace(place) }
