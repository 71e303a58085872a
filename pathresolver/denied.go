package pathresolver

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pinfold-dev/pinfold/access"
)

// The rules that refuse an operation, by their stable codes.
const (
	// RuleOutsideRoot means that the path is absolute elsewhere, or climbs out by "..".
	RuleOutsideRoot access.Code = "outside_root"
	// RuleSymlinkEscape means that a symbolic link on the way leads out of the root.
	RuleSymlinkEscape access.Code = "symlink_escape"
	// RuleMagicLink means that a procfs link jumps to another process's files.
	RuleMagicLink access.Code = "magic_link"
	// RuleMountPoint means that a file system is mounted here that was mounted after
	// New, or that New did not admit.
	RuleMountPoint access.Code = "mount_point"
	// RuleInvalidPath means that the path is empty, holds NUL, or is longer than the system
	// allows.
	RuleInvalidPath access.Code = "invalid_path"
	// RuleNoWritePath means that no write path covers the place.
	RuleNoWritePath access.Code = "no_write_path"
	// RuleWritePathSelf means that the place is a write path itself, which stays.
	RuleWritePathSelf access.Code = "write_path_itself"
	// RuleHidden means that the name matches a hide glob.
	RuleHidden access.Code = "hidden"
	// RuleNotReadable means that no read path covers the place.
	RuleNotReadable access.Code = "not_readable"
	// RuleAsk means that the operation is refused now, but may be asked for.
	RuleAsk access.Code = "ask"
	// RuleProtected means that the name matches a protect glob.
	RuleProtected access.Code = "protected"
	// RuleMasked means that the name matches a mask glob.
	RuleMasked access.Code = "masked"
	// RuleEscapes means that the move could take something out of the reach of a glob,
	// or give it a name that is protected or has to be asked for.
	RuleEscapes access.Code = "escapes_rule"
	// RuleGitDir means that something would come to lie in a git directory that git on
	// the host follows, waits for or writes through, or that a directory would become
	// a git directory.
	RuleGitDir access.Code = "git_directory"
	// RuleGitContent means that the content of this file has to be checked before git
	// can see it, and this operation cannot do that.
	RuleGitContent access.Code = "git_content"
	// RuleHardLink means that the file has other hard links, which would change too.
	RuleHardLink access.Code = "hard_link"
	// RuleSpecialFile means that it is a device, FIFO or socket.
	RuleSpecialFile access.Code = "special_file"
	// RuleUnstable means that the path changed under every one of a bounded number of
	// attempts to pin it down.
	RuleUnstable access.Code = "unstable"
)

// DeniedError says that an operation was refused by a rule, not by the
// system. It is fs.ErrPermission under errors.Is. It never holds a path of
// the host that lies outside the root.
type DeniedError struct {
	Op      access.Op   // what was asked for
	Path    string      // the path as the caller gave it
	Place   string      // where it leads; "" where that is no place
	Rule    access.Code // which rule refused
	Reason  string      // the reason, one sentence without a full stop
	Pattern string      // the glob or write path that decided, if one did
	Origin  string      // where that entry was written, from Config.Origins; "" if nobody said
	Allowed []string    // what the same operation would be allowed on, as places; for access.OpRead, none is everything
}

// Error's first line begins with `Path '...' is outside the allowed sandbox`, with the
// path as given and control characters escaped. For a place beneath the root it goes on
// with what would be allowed. The second line gives the reason; then come what would be
// allowed, where the first does not say it, what to add to allow it, and OriginText.
func (e *DeniedError) Error() string {
	lines := []string{
		"Path '" + EscapePath(e.Path) + "' is outside the allowed sandbox",
		fmt.Sprintf("%s refused (%s): %s", e.Op, e.Rule, e.Reason),
	}
	allowed := e.allowedText()
	switch {
	case e.Place == "":
		lines = append(lines, strings.ToUpper(allowed[:1])+allowed[1:])
	case e.Op == access.OpRead:
		lines[0] += " for reading; " + allowed
	default:
		lines[0] += " for writing; " + allowed
	}
	if e.Rule == RuleNoWritePath && e.Place != "" && e.Place != ".git" && !strings.HasPrefix(e.Place, ".git/") {
		lines = append(lines, "To allow it, add the write path '"+EscapePath(e.Place)+"'")
	}
	if origin := OriginText(e.Origin); origin != "" {
		lines = append(lines, origin)
	}
	return strings.Join(lines, "\n")
}

// OriginText is the line by which every surface names the rule that decided:
// "rule: worker-docs:fs.write (policy.yaml:3:6)". It is "" without an origin.
func OriginText(origin string) string {
	if origin == "" {
		return ""
	}
	return "rule: " + EscapePath(origin)
}

// allowedText says what the same operation would be allowed on.
func (e *DeniedError) allowedText() string {
	switch {
	case e.Op == access.OpRead && len(e.Allowed) == 0:
		return "readable: everything beneath the sandbox root that is not hidden"
	case e.Op == access.OpRead:
		return "readable: " + listPlaces(e.Allowed)
	case len(e.Allowed) == 0:
		return "nothing is writable"
	case slices.Contains(e.Allowed, "."): // a lone "." reads as the end of a sentence
		return "writable: everything beneath the sandbox root that is neither hidden nor protected"
	case e.Rule == RuleWritePathSelf: // which is in the list
		return "writable: what lies in it"
	}
	return "writable: " + listPlaces(e.Allowed)
}

// listPlaces names the first places of a list.
func listPlaces(places []string) string {
	const most = 20
	shown := make([]string, 0, most+1)
	for i, p := range places {
		if i == most {
			shown = append(shown, fmt.Sprintf("and %d more", len(places)-most))
			break
		}
		shown = append(shown, EscapePath(p))
	}
	return strings.Join(shown, ", ")
}

// Is reports whether target is fs.ErrPermission.
func (e *DeniedError) Is(target error) bool { return target == fs.ErrPermission }

// EscapePath makes a path fit for one line of a message: control characters,
// invalid UTF-8, bidirectional marks and other invisible characters are shown
// as Go escapes; everything else stays as it is.
func EscapePath(p string) string {
	plain := true
	for _, c := range p {
		if c == utf8.RuneError || !strconv.IsPrint(c) {
			plain = false
			break
		}
	}
	if plain {
		return p
	}
	var b strings.Builder
	for len(p) > 0 {
		c, n := utf8.DecodeRuneInString(p)
		switch {
		case c == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, `\x%02x`, p[0])
		case strconv.IsPrint(c):
			b.WriteString(p[:n])
		default:
			q := strconv.QuoteRune(c)
			b.WriteString(q[1 : len(q)-1])
		}
		p = p[n:]
	}
	return b.String()
}

// badWord is the error for a word that is not in a closed list.
func badWord(what, word string, valid ...string) error {
	return fmt.Errorf("unknown %s %q: want %s", what, word, strings.Join(valid, ", "))
}
