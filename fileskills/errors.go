package fileskills

import "fmt"

// Code is the stable identifier of a failure.
type Code string

// The codes. Whatever a model can mend is one of these, never a protocol error.
const (
	CodeInvalidArgument  Code = "invalid_argument"
	CodeUnknownSkill     Code = "unknown_skill"
	CodePathOutsideRoot  Code = "path_outside_root"
	CodeWriteNotAllowed  Code = "write_not_allowed"
	CodePathBlocked      Code = "path_blocked"
	CodeSymlinkEscape    Code = "symlink_escape"
	CodeNotFound         Code = "not_found"
	CodeAlreadyExists    Code = "already_exists"
	CodeIsDirectory      Code = "is_directory"
	CodeNotDirectory     Code = "not_directory"
	CodeNotRegularFile   Code = "not_regular_file"
	CodeBinaryFile       Code = "binary_file"
	CodeInvalidEncoding  Code = "invalid_encoding"
	CodeTooLarge         Code = "too_large"
	CodeNoMatch          Code = "no_match"
	CodeMultipleMatches  Code = "multiple_matches"
	CodeNoChange         Code = "no_change"
	CodeOverlappingEdits Code = "overlapping_edits"
	CodeStaleFile        Code = "stale_file"
	CodeInvalidRegex     Code = "invalid_regex"
	CodeTooManyMatches   Code = "too_many_matches"
	CodeCrossDevice      Code = "cross_device"
	CodePermissionDenied Code = "permission_denied"
	CodeNoSpace          Code = "no_space"
	CodeTimeout          Code = "timeout"
	CodeCancelled        Code = "cancelled"
	CodeIOError          Code = "io_error"
)

// Error is why a call failed, fit to be shown to a model: Message says what is
// wrong and that nothing was changed where that matters, Hint what to do. It
// never holds a path of the host outside the root.
type Error struct {
	Code    Code           `json:"code"`
	Path    string         `json:"path,omitempty"` // as given
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
	Data    map[string]any `json:"data,omitempty"`

	cause error
}

// Error is the text for the model: message, then hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "\n" + e.Hint
}

// Unwrap returns the error of the file system or resolver behind it, if any.
func (e *Error) Unwrap() error { return e.cause }

// fail makes an error about a path, as given; "" if it is about none.
func fail(code Code, path, format string, args ...any) *Error {
	return &Error{Code: code, Path: path, Message: fmt.Sprintf(format, args...)}
}

// hint adds what to do.
func (e *Error) hint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}
