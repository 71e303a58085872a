package approver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/internal/helper"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// refuseReachable refuses a command that is, or names by ./, ../ or /, a file
// which the agent could change: it would answer itself, with the operator's
// rights. Other words may be anything.
func (m Mode) refuseReachable(r *pathresolver.Resolver) error {
	separates := func(c rune) bool { return strings.ContainsRune(" \t\n;&|()<>=\"'`", c) }
	for i, word := range strings.FieldsFunc(m.Command, separates) {
		if i > 0 && !strings.HasPrefix(word, ".") && !filepath.IsAbs(word) {
			continue
		}
		if strings.ContainsRune(word, '/') {
			if err := hostfile.Refuse("--approve exec:", word); err != nil {
				return err
			}
		}
		for _, at := range []string{answerName(word), answerTarget(word)} {
			place, err := filepath.Rel(r.Root(), at)
			if err != nil || !filepath.IsLocal(place) {
				continue
			}
			info, err := os.Lstat(at)
			if v := resolved.VerdictAt(r, filepath.ToSlash(place)); err == nil && !info.IsDir() && (v.Writable || v.AskWrite) {
				return cli.UsageError(fmt.Errorf("--approve exec: what the command may change must not answer for you: '%s'", pathresolver.EscapePath(place)),
					"keep it outside of the write paths, or --protect it")
			}
		}
	}
	return nil
}

// answerName is the absolute path of a name, which itself may be a link; "" where
// its directory does not exist. answerTarget is what it leads to.
func answerName(path string) string {
	if dir := answerTarget(filepath.Dir(path)); dir != "" {
		return filepath.Join(dir, filepath.Base(path))
	}
	return ""
}

func answerTarget(path string) string {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return ""
	}
	return path
}

// safeSearch sets the PATH of exec's command to yours without the directories in
// which the agent could put a program, now or later: what the command starts by
// name would run with the operator's rights, and could answer. It refuses a
// command that is found in those alone.
func (m *Mode) safeSearch(r *pathresolver.Resolver, home string) error {
	if m.Kind != "exec" {
		return nil
	}
	all := os.Getenv("PATH")
	m.Path = helper.Search(all, func(dir string) bool { return agentWrites(r, home, dir) })
	if m.Path == "" { // which a shell takes for the working directory
		m.Path = "/usr/bin:/bin"
	}
	name, _, _ := strings.Cut(strings.TrimSpace(m.Command), " ")
	if name == "" || strings.ContainsRune(name, '/') || inSearch(m.Path, name) != "" {
		return nil
	}
	if at := inSearch(all, name); at != "" {
		return cli.UsageError(fmt.Errorf("--approve exec: what the command may change must not answer for you: '%s', which PATH leads to", pathresolver.EscapePath(at)),
			"keep it outside of the write paths and of --home, or name another by its path")
	}
	return nil // the shell has it, or says that there is none
}

// inSearch is where a program lies that is looked up in path, or "".
func inSearch(path, name string) string {
	for _, dir := range filepath.SplitList(path) {
		at := filepath.Join(dir, name)
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return at
		}
	}
	return ""
}

// agentWrites reports whether the run's command may put something into dir, or
// lead dir or one above it elsewhere.
func agentWrites(r *pathresolver.Resolver, home, dir string) bool {
	if home != "" {
		home = answerTarget(home)
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		for _, real := range []string{answerName(at), answerTarget(at)} {
			if rel, err := filepath.Rel(home, real); home != "" && err == nil && filepath.IsLocal(rel) {
				return true
			}
			place, err := filepath.Rel(r.Root(), real)
			if err != nil || !filepath.IsLocal(place) {
				continue
			}
			v := resolved.VerdictAt(r, filepath.ToSlash(filepath.Join(place, "program")))
			if at == filepath.Clean(dir) && (v.Writable || v.AskWrite) {
				return true
			}
			if v := resolved.VerdictAt(r, filepath.ToSlash(place)); v.Writable || v.AskWrite {
				return true
			}
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}
