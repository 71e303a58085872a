package fileskills

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// maxShownPath bounds how much of a path a message repeats.
const maxShownPath = 4096

// shown is a path as given, fit for a message.
func shown(unsafePath string) string {
	return pathresolver.EscapePath(clip(unsafePath, maxShownPath))
}

// outside is the refusal of a path by a rule or a gate's policy. Its first
// line is the same on every surface.
func outside(unsafePath string) *Error {
	return &Error{
		Code: CodePathOutsideRoot, Path: clip(unsafePath, maxShownPath),
		Message: "Path '" + shown(unsafePath) + "' is outside the allowed sandbox",
	}
}

// ruleCodes is which code each rule of the resolver has here.
var ruleCodes = map[access.Code]Code{
	pathresolver.RuleOutsideRoot:   CodePathOutsideRoot,
	pathresolver.RuleSymlinkEscape: CodeSymlinkEscape,
	pathresolver.RuleMagicLink:     CodeSymlinkEscape,
	pathresolver.RuleMountPoint:    CodePathBlocked,
	pathresolver.RuleInvalidPath:   CodeInvalidArgument,
	pathresolver.RuleNoWritePath:   CodeWriteNotAllowed,
	pathresolver.RuleWritePathSelf: CodeWriteNotAllowed,
	pathresolver.RuleHidden:        CodePathBlocked,
	pathresolver.RuleNotReadable:   CodePathBlocked,
	pathresolver.RuleAsk:           CodePathBlocked,
	pathresolver.RuleProtected:     CodePathBlocked,
	pathresolver.RuleMasked:        CodePathBlocked,
	pathresolver.RuleEscapes:       CodePathBlocked,
	pathresolver.RuleHardLink:      CodePathBlocked,
	pathresolver.RuleSpecialFile:   CodeNotRegularFile,
	pathresolver.RuleUnstable:      CodeIOError,
}

// systemErrors is which code and words each error of the system has here; the
// first that matches counts.
var systemErrors = []struct {
	is   error
	code Code
	text string // after the path
}{
	{syscall.ENOTDIR, CodeNotDirectory, "has a file where a directory is needed"},
	{syscall.EISDIR, CodeIsDirectory, "is a directory"},
	{syscall.ENOTEMPTY, CodeAlreadyExists, "is a directory that is not empty"},
	{syscall.EXDEV, CodeCrossDevice, "lies on another file system"},
	{syscall.ENOSPC, CodeNoSpace, "cannot be written: no space is left"},
	{syscall.EDQUOT, CodeNoSpace, "cannot be written: the quota is used up"},
	{syscall.EFBIG, CodeTooLarge, "would be too large"},
	{syscall.EROFS, CodePermissionDenied, "lies on a read-only file system"},
	{syscall.ELOOP, CodeInvalidArgument, "goes through too many symbolic links"},
	{syscall.ENAMETOOLONG, CodeInvalidArgument, "has a name that is too long"},
	{syscall.EINVAL, CodeInvalidArgument, "is no name that this can be done to"},
	{syscall.EBUSY, CodeIOError, "is in use"},
	{syscall.EBADF, CodePermissionDenied, "may not be read: the system refuses it"},
	{fs.ErrNotExist, CodeNotFound, "does not exist"},
	{fs.ErrExist, CodeAlreadyExists, "exists already"},
	{fs.ErrPermission, CodePermissionDenied, "may not be used that way: the system refuses it"},
	{errors.ErrUnsupported, CodeIOError, "cannot be used that way on this system"},
}

// explain makes an *Error of any failure. unsafePath is what the call is
// about, where the failure does not say.
func (c *call) explain(err error, unsafePath string) error {
	var e *Error
	var d *pathresolver.DeniedError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &d):
		return c.refused(d)
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: CodeTimeout, Path: unsafePath, Message: c.skill.name + " ran out of time. Nothing was changed.", cause: err}
	case errors.Is(err, context.Canceled):
		return &Error{Code: CodeCancelled, Path: unsafePath, Message: c.skill.name + " was cancelled. Nothing was changed.", cause: err}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) && pe.Path != "" {
		unsafePath = pe.Path
	}
	e = &Error{Code: CodeIOError, Path: clip(unsafePath, maxShownPath), cause: err}
	for _, s := range systemErrors {
		if errors.Is(err, s.is) {
			e.Code, e.Message = s.code, shown(unsafePath)+" "+s.text
			break
		}
	}
	var errno syscall.Errno
	switch {
	case e.Message != "":
	case errors.As(err, &errno):
		e.Message = shown(unsafePath) + ": " + errno.Error()
	default:
		e.Message = shown(unsafePath) + ": the operation failed"
	}
	if e.Code == CodeNotFound {
		e.Hint = c.didYouMean(unsafePath)
	}
	e.Message += "."
	return e
}

// refused is the text of a refusal by a rule.
func (c *call) refused(d *pathresolver.DeniedError) *Error {
	e := outside(d.Path)
	e.cause = d
	if code, ok := ruleCodes[d.Rule]; ok {
		e.Code = code
	} else {
		e.Code = CodePathBlocked
	}
	verb := "write"
	if d.Op == access.OpRead {
		verb = "read"
	}
	short := *d
	short.Path = clip(d.Path, maxShownPath)
	lines := strings.Split(short.Error(), "\n")
	e.Message = lines[0]
	lines[1] = fmt.Sprintf("%s may not %s it: %s.", c.skill.name, verb, d.Reason) // for a model, its own words
	e.Hint = strings.Join(lines[1:], "\n")
	e.Data = map[string]any{"rule": string(d.Rule)}
	if d.Op != access.OpRead {
		e.Data["writable"] = d.Allowed
	}
	if d.Origin != "" {
		e.Data["origin"] = d.Origin
	}
	return e
}

// refusedByGate is the text of a refusal by the gate, which is asked before
// anything is touched.
func (c *call) refusedByGate(d access.Decision, unsafePath string) *Error {
	e := outside(unsafePath)
	e.Code = cmp.Or(Code(d.Code), CodePermissionDenied)
	if !d.Unconfirmed {
		text := d.Text()
		if first, rest, more := strings.Cut(text, "\n"); more && strings.HasPrefix(first, e.Message) {
			e.Message, text = first, rest
		}
		e.Hint = cmp.Or(text, c.skill.name+" was refused.")
		return e
	}
	e.Message = c.skill.name + " on '" + shown(unsafePath) + "' was not confirmed"
	if why := d.Reason(); why != "" {
		e.Message += ": " + strings.TrimSuffix(why, ".")
	}
	e.Message += ". Nothing was changed."
	return e
}

// didYouMean looks beside a missing path for a name that is like its last one.
// Under a gate it is not done: what a directory holds is for the gate to allow.
func (c *call) didYouMean(unsafePath string) string {
	if c.set.gate != nil {
		return ""
	}
	unsafePath = strings.TrimRight(unsafePath, "/")
	dir, name := splitPath(unsafePath)
	d := c.openSmall(dir)
	if d == nil {
		return ""
	}
	defer d.Close()
	entries, err := d.ReadDir()
	if err != nil {
		return ""
	}
	names := make([]string, 0, min(len(entries), maxSuggest))
	for _, e := range entries {
		if len(names) == maxSuggest {
			break
		}
		names = append(names, e.Name())
	}
	like := nearest(name, names)
	if like == "" {
		return ""
	}
	if dir != "." || strings.HasPrefix(unsafePath, "./") {
		like = path.Join(dir, like)
	}
	return "Did you mean " + shown(like) + "?"
}

// openSmall opens a directory that is soon read, for a hint; nil where it is not, or
// cannot be opened.
func (c *call) openSmall(unsafePath string) Dir {
	if info, err := c.fs.Stat(unsafePath); err != nil || info.Size() > maxSuggestDir {
		return nil
	}
	d, err := c.fs.OpenDir(unsafePath)
	if err != nil {
		return nil
	}
	return d
}

// splitPath splits an unsafe path at its last name.
func splitPath(unsafePath string) (dir, name string) {
	dir, name = path.Split(strings.TrimRight(unsafePath, "/"))
	if dir == "" {
		dir = "."
	}
	return dir, name
}

// placeOf is the place of an entry, for the result: the place of its directory
// and its name, or "" where that cannot be told.
func (c *call) placeOf(unsafePath string) string {
	dir, name := splitPath(unsafePath)
	d := c.openSmall(dir)
	if d == nil {
		return ""
	}
	defer d.Close()
	return path.Join(d.Place(), name)
}
