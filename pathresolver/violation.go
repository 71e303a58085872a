package pathresolver

import (
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

// The codes of findings of Validate, which docs/cli.md lists; exported where a caller treats one apart. Those marked
// as warnings do not stop New.
const (
	codeRootEmpty         access.Code = "root_empty"          // no root given
	codeRootMissing       access.Code = "root_missing"        // the root does not exist
	codeRootNotDirectory  access.Code = "root_not_directory"  // the root is a file
	codeRootUnreadable    access.Code = "root_unreadable"     // the root cannot be opened
	codeRootBroad         access.Code = "root_broad"          // /, $HOME or a system directory
	codePathEmpty         access.Code = "path_empty"          // an empty write path
	codePathNUL           access.Code = "path_nul"            // a write path that holds NUL
	codePathTooLong       access.Code = "path_too_long"       // beyond PATH_MAX or NAME_MAX
	codePathDotDot        access.Code = "path_dot_dot"        // a ".." component
	codePathOutside       access.Code = "path_outside"        // absolute, and elsewhere
	codePathPrefixSibling access.Code = "path_prefix_sibling" // /a/bc where the root is /a/b
	codePathSymlink       access.Code = "path_symlink"        // a symbolic link inside the root
	codePathSymlinkOut    access.Code = "path_symlink_out"    // a symbolic link that leads out
	codePathBeneathFile   access.Code = "path_beneath_file"   // an ancestor is a file
	codePathSpecial       access.Code = "path_special"        // a device, FIFO or socket
	codePathMount         access.Code = "path_mount"          // crosses a mount that cannot be admitted
	codePathHidden        access.Code = "path_hidden"         // a hide glob covers the write path
	codePathProtected     access.Code = "path_protected"      // a protect glob covers the write path
	codePathTrusted       access.Code = "path_trusted"        // warning: what programs run by themselves stays protected there
	codePathNotReadable   access.Code = "path_not_readable"   // a write path that no read path covers
	codePathAsked         access.Code = "path_asked"          // warning: what lies there has to be asked for
	codeNothingReadable   access.Code = "nothing_readable"    // read paths without an entry
	codePathUnreadable    access.Code = "path_unreadable"     // cannot be examined
	codePathDuplicate     access.Code = "path_duplicate"      // warning: given twice
	CodePathNested        access.Code = "path_nested"         // warning: another write path covers it
	codePathCaseCollision access.Code = "path_case_collision" // warning: differs from a sibling by case only
	codeBadPattern        access.Code = "bad_pattern"         // a glob that cannot be read
	codeGitUnclear        access.Code = "git_unclear"         // what git on the host would run cannot be told
	CodeGitRuns           access.Code = "git_runs"            // warning: git on the host runs what the project says, and that may be written
	codeUnknownUnprotect  access.Code = "unknown_unprotect"   // not one of DefaultProtected
	codeMountRefused      access.Code = "mount_refused"       // warning: procfs and its like beneath the root
	CodeGitOutside        access.Code = "git_outside"         // .git is a file that leads out of the root
	codeGitMissing        access.Code = "git_missing"         // warning: Git is set and there is no .git
)

// Severity tells findings that stop New from those that only deserve a word.
type Severity string

// The two severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Violation is one finding of Validate.
type Violation struct {
	Code     access.Code `json:"code"`
	Severity Severity    `json:"severity"`
	Field    string      `json:"field"`            // "root", "write_paths[2]", "hide[0]", ...
	Value    string      `json:"value"`            // the offending value as given
	Message  string      `json:"message"`          // one line, control characters escaped
	Link     string      `json:"link,omitempty"`   // the symbolic link that is the cause, as a place
	Target   string      `json:"target,omitempty"` // where that link leads, as its own text
	Hint     string      `json:"hint,omitempty"`   // what to do about it
}

// ConfigError is New's error: every violation of the configuration.
type ConfigError struct {
	Violations []Violation // errors and warnings, in the order of the fields
}

func (e *ConfigError) Error() string {
	var b strings.Builder
	for _, v := range e.Violations {
		if v.Severity != SeverityError {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(v.Message)
		if v.Hint != "" {
			fmt.Fprintf(&b, " (%s)", v.Hint)
		}
	}
	return b.String()
}
