package check

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// baselineUse is what a baseline did.
type baselineUse struct {
	File    string `json:"file"`
	LeftOut int    `json:"left_out"` // findings that it knows
	Stale   int    `json:"stale"`    // entries that no longer occur
}

var indices = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[0-9]+\]`) })

// findingOf is what the baseline in a directory knows of a problem.
func (c *filesCheck) findingOf(p permission.Problem, dir string) finding {
	message := p.Message
	for _, root := range c.rootNames() {
		message = strings.ReplaceAll(message, "'"+pathresolver.EscapePath(root)+"'", "'.'")
	}
	return finding{File: pathresolver.EscapePath(relativeTo(dir, p.File)), Code: p.Code, Path: indices().ReplaceAllString(p.Path, "[]"), Message: message}
}

func (c *filesCheck) rootNames() []string {
	names := []string{c.absRoot}
	if real, err := hostfile.RealPath(c.root); err == nil && real != c.absRoot {
		names = append(names, real)
	}
	return names
}

// relativeTo is a file's name from a directory on, with slashes.
func relativeTo(dir, file string) string {
	absDir, err := filepath.Abs(dir)
	if err != nil {
		return file
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	if rel, err := filepath.Rel(absDir, abs); err == nil {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(abs)
}

// leaveOut removes the findings that the baseline knows, each as often as the baseline
// says, and adds a note for each entry that no longer occurs. Entries about files that
// were not checked get no note, unless the file is gone.
func (c *filesCheck) leaveOut(b *baseline) ([]permission.Problem, *baselineUse) {
	dir := filepath.Dir(b.file)
	left := map[finding]int{}
	for _, e := range b.entries {
		left[e.finding] += max(e.Count, 1)
	}
	use := &baselineUse{File: pathresolver.EscapePath(hostfile.Display(b.file))}
	var found []permission.Problem
	for _, p := range c.found {
		if f := c.findingOf(p, dir); p.File != c.project && left[f] > 0 {
			left[f]--
			use.LeftOut++
			continue
		}
		found = append(found, p)
	}
	decided := c.decided(dir)
	for _, e := range b.entries {
		if left[e.finding] == 0 || !decided(e.File) {
			continue
		}
		left[e.finding] = 0
		use.Stale++
		found = append(found, permission.Problem{Position: access.Position{File: hostfile.Display(b.file), Line: e.line, Column: 1}, Severity: permission.SeverityNote, Code: "stale_baseline",
			Message: fmt.Sprintf("%s no longer occurs in %s: %s", e.Code, e.File, e.Message), Hint: "write the baseline anew with --write-baseline"})
	}
	return found, use
}

// decided returns a function that reports whether this check says all about a
// file of a baseline in dir: it was checked, or is gone.
func (c *filesCheck) decided(dir string) func(file string) bool {
	checked := make(map[string]bool, len(c.files))
	for file := range c.files {
		checked[pathresolver.EscapePath(relativeTo(dir, file))] = true
	}
	return func(file string) bool {
		if checked[file] {
			return true
		}
		fsys, err := hostfile.OpenProject(dir)
		if err != nil {
			return false
		}
		defer fsys.Close()
		_, err = fsys.Root.Lstat(filepath.FromSlash(file))
		return errors.Is(err, os.ErrNotExist)
	}
}

// writeBaseline writes what was found, and keeps what is known of files that
// were not checked.
func (c *filesCheck) writeBaseline(file string) error {
	dir := filepath.Dir(file)
	counts := map[finding]int{}
	for _, p := range c.found {
		counts[c.findingOf(p, dir)]++
	}
	known, err := readBaseline(c.root, file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return cli.UsageError(err, "remove it to begin anew")
	}
	if known != nil {
		decided := c.decided(dir)
		for _, e := range known.entries {
			if !decided(e.File) {
				counts[e.finding] += max(e.Count, 1)
			}
		}
	}
	if err := hostfile.Refuse("--write-baseline", dir); err != nil {
		return err
	}
	if err := hostfile.Replace(file, encodeBaseline(counts)); err != nil {
		return fmt.Errorf("'%s' cannot be written: %w", file, err)
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	c.out.Stdout.Printf("%s: %s\n", pathresolver.EscapePath(hostfile.Display(file)), cli.Plural(total, "finding"))
	return nil
}
