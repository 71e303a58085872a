package fileskills

import (
	"context"
	"fmt"
	"strings"
)

// newWalk opens a directory for a search. rules are those of the .gitignore
// files above it. The caller calls close.
func (c *call) newWalk(unsafePath string, includeIgnored bool) (w *walk, rules ignoreRules, err error) {
	top, err := c.fs.OpenDir(unsafePath)
	if err != nil {
		return nil, nil, err
	}
	w = &walk{top: top, ignore: !includeIgnored}
	w.queue = newWalkQueue(w)
	if w.ignore && top.Place() != "." {
		rules = c.rulesAbove(top.Place())
	}
	return w, rules, nil
}

// rulesAbove goes down from the root to a directory that the caller named.
func (c *call) rulesAbove(place string) (rules ignoreRules) {
	root, err := c.fs.OpenDir(".")
	if err != nil {
		return nil
	}
	defer root.Close()
	at, inside := "", false
	for name := range strings.SplitSeq(place, "/") {
		rules = rules.readIgnore(root, joinRel(at, ".git/info/exclude"))
		rules = rules.readIgnore(root, joinRel(at, ".gitignore"))
		inside = inside || rules.ignored(name, true)
		rules = rules.enter(name)
		at = joinRel(at, name)
	}
	return rules.named(inside)
}

// close ends the walk. A reader that still waits for its directory keeps the
// top open until it has come back: its descriptor must not become another's.
func (w *walk) close(ctx context.Context) {
	w.queue.stop()
	_, _ = promptly(ctx, func() (struct{}, error) {
		w.using.Wait()
		return struct{}{}, w.top.Close()
	})
}

// place is where something that was visited stands.
func (w *walk) place(rel string) string { return joinRel(w.top.Place(), rel) }

// note says what was left out, "" when nothing was. verb is "shown" or
// "searched".
func (s *skipped) note(verb string) string {
	var parts []string
	add := func(n int, one, many string) {
		if n == 1 {
			parts = append(parts, "1 "+one)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(s.ignoredFiles, "ignored file", "ignored files")
	add(s.ignoredDirs, "ignored directory", "ignored directories")
	ignored := len(parts) > 0
	add(s.binary, "binary file", "binary files")
	add(s.tooLarge, "file that is too large", "files that are too large")
	add(s.unreadable, "unreadable file or directory", "unreadable files or directories")
	add(s.links, "link", "links")
	add(s.special, "special file", "special files")
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, ", ") + " not " + verb
	if ignored {
		text += "; include_ignored=true"
	}
	return "(" + text + ")"
}

// countOf is "1 file", "2 files".
func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
