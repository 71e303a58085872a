package pathresolver

import (
	"io/fs"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/resolved"
)

// HardLinks says what happens when a file that has more than one hard link is
// about to be changed in place: another of its names may lie outside the
// write paths, where writing would change it too.
type HardLinks uint8

const (
	// HardLinksDeny refuses the change. It is the zero value.
	HardLinksDeny HardLinks = iota
	// HardLinksBreak first replaces the name by a copy with one link.
	HardLinksBreak
	// HardLinksAllow changes the file, and with it all of its names.
	HardLinksAllow
)

// ParseHardLinks reads "deny", "break" or "allow". Any other word is an error.
func ParseHardLinks(word string) (HardLinks, error) {
	switch word {
	case "deny":
		return HardLinksDeny, nil
	case "break":
		return HardLinksBreak, nil
	case "allow":
		return HardLinksAllow, nil
	}
	return HardLinksDeny, badWord("hardlinks", word, "deny", "break", "allow")
}

func (h HardLinks) String() string {
	switch h {
	case HardLinksBreak:
		return "break"
	case HardLinksAllow:
		return "allow"
	}
	return "deny"
}

// Config is a policy for one directory. Its zero value, but for Root, is the
// safest one: everything beneath Root may be read, nothing may be written.
type Config struct {
	// Root is the directory that bounds all access: absolute, or relative to
	// the process's working directory. It must exist. It is never empty.
	Root string

	// WritePaths are directories or single files beneath Root that may be
	// changed: relative to Root, or absolute. They need not exist yet. None
	// means read-only.
	WritePaths []string

	// ReadPaths are directories or single files beneath Root, like WritePaths. What
	// none of them covers does not exist for the caller; the directories that lead to
	// them are seen, and show only what leads on. nil means everything beneath Root;
	// an empty list is a violation. Write paths lie beneath read paths.
	ReadPaths []string

	// Widens says that write paths may be added while this is open. What git's
	// configuration names is then protected from the start, also where nothing may be
	// written yet.
	Widens bool `json:"-"`

	// Git makes the unprotected part of .git beneath Root a write path.
	Git bool

	// GitDirs are absolute paths of git directories outside of Root whose linked work
	// trees and submodules may be checked out beneath it. A .git file that is made
	// there may name one of these, or the .git beneath Root.
	GitDirs []string

	// GitTrees are absolute paths of directories outside of Root in which new linked
	// work trees may lie. Root is then a git directory itself.
	GitTrees []string

	// GitWorktree is the name of the linked work tree whose own directory in Root may
	// be changed. Root is then a git directory itself. Without it only those that are
	// made through the resolver may be changed.
	GitWorktree string

	// Hide are doublestar globs over places. What matches, and everything
	// beneath it, does not exist for the caller. They are matched at every
	// look-up, so names that appear later count; letter case and Unicode
	// composition are ignored. A glob has at most 4,096 bytes, 62 components,
	// and braces that are nested 8 deep and stand for 1,000 names in one
	// component; New refuses others, so that no glob is slow to match.
	Hide []string

	// Protect are doublestar globs over places. What matches, and everything
	// beneath it, may be read but not changed, made, moved or removed, also
	// beneath a write path. They add to DefaultProtected.
	Protect []string

	// Mask are doublestar globs over places whose values are not to be known. A Resolver
	// neither reads nor changes what matches, nor anything beneath it, as Protect does;
	// names and attributes are seen. A view shows such files with stand-ins for their
	// values. Another name of the same file that no glob matches shows it as it is.
	Mask []string

	// AskRead and AskWrite are doublestar globs over places that may be asked for.
	// What matches, and everything beneath it, is refused by RuleAsk until it is
	// granted. AskRead keeps the content from being read or changed; names and
	// attributes are seen. AskWrite keeps places from being changed, as Protect does,
	// and needs no write path. Hide and Protect are stronger than both.
	AskRead  []string
	AskWrite []string

	// Grant, if set, says which of these have been granted. It is asked each time, so
	// grants can be given and withdrawn. It is not part of a Config that is written
	// down.
	Grant Grant `json:"-"`

	// Restrict, if set, may refuse a change that these rules allow, for a reason that
	// globs cannot express, such as what stood there before. It returns the reason,
	// one sentence without a full stop, and "" where it agrees: it can only take
	// away. It is not asked about reading, nor about what the rules refuse.
	//
	// It is asked about a place before the operation, which may then fail; op is
	// OpRename at both ends of a move, and OpCreate or OpLink for a new name. kind is
	// the type of what OpCreate makes; for other operations it says nothing. It is
	// safe for use by many goroutines and never waits for anybody: the file system
	// is waiting for it. It is not part of a Config that is written down.
	Restrict func(op access.Op, place string, kind fs.FileMode) (reason string) `json:"-"`

	// Unprotect takes entries away from DefaultProtected, each spelled as it
	// stands there. An entry that is not there is a violation.
	Unprotect []string

	// HardLinks says how to change files with several hard links in place.
	HardLinks HardLinks

	// Origins says where the entries of these lists were written, for messages.
	Origins resolved.Origins

	// AllowBroadRoot admits /, the home directory and system directories as
	// Root, which are refused otherwise.
	AllowBroadRoot bool

	// ForceWalker leaves openat2 unused. Verdicts do not change; speed does.
	// It exists for tests and for debugging.
	ForceWalker bool
}

// DefaultProtected are the places that no write path covers unless Config.Unprotect
// names them. Writing them would run code, or move the boundary, the next time someone
// outside uses the repository (CVE-2026-25725 and others like it). ".git" itself may
// be a directory but not become a file or a link. HEAD at the root would make the root
// itself a repository. The .git of each submodule that .gitmodules names when New runs
// is protected in the same way; Unprotect opens it by the entry ".git".
func DefaultProtected() []string {
	names := []string{"HEAD"}
	for _, n := range gitProtected {
		names = append(names, ".git/"+n.name)
	}
	return append(names,
		".git/modules/**/hooks",
		".git/modules/**/config",
		".git/modules/**/config.worktree",
		".git/modules/**/commondir",
	)
}
