package brokerhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
)

// codeStranger: the connection is not whose socket it came through.
const codeStranger access.Code = "stranger"

// codeInternal: an error that is no refusal. Its text stays here.
const codeInternal access.Code = "internal"

var errNobody = &broker.Error{Code: codeNobody, Message: "the connection has no identity: use an agent's socket, or its token"}

const codeNobody access.Code = "no_identity"

// statuses is the only table from codes to HTTP statuses. A code that is not in
// it is a policy's refusal: 403.
var statuses = map[access.Code]int{
	codeNobody:             http.StatusUnauthorized,
	codeInternal:           http.StatusInternalServerError,
	broker.CodeNotFound:    http.StatusNotFound,
	broker.CodeInvalid:     http.StatusBadRequest,
	broker.CodeResolved:    http.StatusConflict,
	broker.CodeMismatch:    http.StatusConflict,
	broker.CodeExists:      http.StatusConflict,
	broker.CodeTooLarge:    http.StatusRequestEntityTooLarge,
	broker.CodeTooMany:     http.StatusTooManyRequests,
	broker.CodeRateLimited: http.StatusTooManyRequests,
	broker.CodeUnavailable: http.StatusServiceUnavailable,
}

func statusOf(code access.Code) int {
	if status, ok := statuses[code]; ok {
		return status
	}
	return http.StatusForbidden
}

// errorBody is how a refusal is sent.
type errorBody struct {
	Error struct {
		Code    access.Code `json:"code"`
		Message string      `json:"message"`
	} `json:"error"`
}

func writeError(w http.ResponseWriter, err error) {
	var known *broker.Error
	switch {
	case errors.As(err, &known):
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		known = fault(broker.CodeUnavailable, "the broker is ending, or this took too long")
	default:
		known = fault(codeInternal, "%s", err)
	}
	var body errorBody
	body.Error.Code, body.Error.Message = known.Code, known.Error()
	writeJSON(w, statusOf(known.Code), body)
}

// fault is a refusal of this package's own.
func fault(code access.Code, format string, args ...any) *broker.Error {
	return &broker.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
