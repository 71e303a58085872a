package broker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pinfold-dev/pinfold/access"
)

// Error is the broker's refusal. Its code is one of the broker's or, where a policy
// refused, one of package permission's. Its message is for whoever asked, and
// whole: the same on every surface.
type Error struct {
	Code    access.Code `json:"code"`
	Message string      `json:"message"`

	cause    error // of CodeUnavailable
	recorded bool  // the decision is on record, with its rule
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the store's error where that is the cause.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is fs.ErrPermission, which every refusal is but
// those about what is not there, malformed, or not possible now; or ErrNotFound
// for what is not there.
func (e *Error) Is(target error) bool {
	switch e.Code {
	case CodeNotFound:
		return target == ErrNotFound
	case CodeInvalid, CodeTooLarge, CodeExists, CodeResolved, CodeUnavailable:
		return false
	}
	return target == fs.ErrPermission
}

func refuse(code access.Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// outcome is err as a caller sees it: refusals and the end of its context as
// they are; a failing store as such, since then nothing was decided.
func outcome(err error) error {
	var refusal *Error
	switch {
	case err == nil, errors.As(err, &refusal), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &Error{Code: CodeUnavailable, Message: "the broker cannot answer: " + err.Error(), cause: err}
}
