package gitbeside

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pinfold-dev/pinfold/internal/gitrepo"
	"github.com/pinfold-dev/pinfold/internal/resolved"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// maxHistory bounds the hidden names in git's index that are counted.
const maxHistory = 1000

// History names hidden files that git's objects show all the same. Hiding a file does
// not hide content of it that was committed or staged, as long as .git is readable.
type History struct {
	First string // one of the names
	more  int    // how many others there are
	open  bool   // at least so many
	kept  string // how the first is kept back: hidden, masked, or asked for
}

// HiddenInHistory looks in the index of the project's repository for names that a hide
// or mask glob of cfg covers, or that have to be asked for before they are read, as r
// decides. There are none where the repository cannot be read
// inside. Where git's files cannot be understood none are named: the resolver says
// what it refuses for that.
func HiddenInHistory(cfg pathresolver.Config, r *pathresolver.Resolver, shown []string) (h History, found bool) {
	if len(cfg.Hide)+len(cfg.Mask) == 0 && !asksRead(r) {
		return h, false
	}
	repo, err := gitrepo.Inspect(r.Root(), gitrepo.HostEnvironment())
	if err != nil || repo.Kind == gitrepo.None || !objectsReadable(repo, r, shown) {
		return h, false
	}
	names, complete, err := repo.Tracked(func(path string, _ []byte) bool {
		v := resolved.VerdictAt(r, path)
		return v.Hidden && v.Pattern != "" || v.Masked || v.AskRead
	}, maxHistory)
	if err != nil || len(names) == 0 {
		return h, false
	}
	kept := "hidden"
	switch v := resolved.VerdictAt(r, names[0]); {
	case v.Masked:
		kept = "masked"
	case v.AskRead:
		kept = "kept back until it is opened"
	}
	return History{First: names[0], more: len(names) - 1, open: !complete, kept: kept}, true
}

// asksRead reports whether something has to be asked for before it is read.
func asksRead(r *pathresolver.Resolver) bool {
	asking, ok := resolved.Of(r).(interface{ AsksRead() bool })
	return ok && asking.AsksRead()
}

// objectsReadable reports whether the repository's objects can be read inside:
// beneath the root unless they are hidden, and elsewhere where that is shown.
func objectsReadable(repo *gitrepo.Repository, r *pathresolver.Resolver, shown []string) bool {
	objects := filepath.Join(repo.CommonDir, "objects")
	if place, err := filepath.Rel(r.Root(), objects); err == nil && filepath.IsLocal(place) {
		return !resolved.VerdictAt(r, filepath.ToSlash(place)).Hidden
	}
	for _, dir := range shown {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue
		}
		if real, err = filepath.Abs(real); err != nil {
			continue
		}
		if rest, err := filepath.Rel(real, objects); err == nil && filepath.IsLocal(rest) {
			return true
		}
	}
	return false
}

// String says which names, without the quotes that a shell would need.
func (h History) String() string {
	first := "'" + pathresolver.EscapePath(h.First) + "'"
	atLeast := ""
	if h.open {
		atLeast = "at least "
	}
	switch {
	case h.more > 0:
		return fmt.Sprintf("%s and %s%d more are %s", first, atLeast, h.more, h.kept)
	case h.open:
		return first + " is " + h.kept + ", maybe not alone,"
	}
	return first + " is " + h.kept
}

// Shows is the command that reads the first name out of the history.
func (h History) Shows() string {
	name := pathresolver.EscapePath(h.First)
	if strings.ContainsAny(name, " '\"\\$`*?[]()<>|&;#") {
		name = "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return "git show :" + name
}

// HistoryAdvice is what to do about it.
const HistoryAdvice = "hide .git too, or take them out of git and change what they gave away"
