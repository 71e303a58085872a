package mcpserver

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pinfold-dev/pinfold/fileskills"
)

// logEntry is what a client that asked for logging gets about a call.
type logEntry struct {
	Skill  string          `json:"skill"`
	Code   fileskills.Code `json:"code,omitempty"`
	Path   string          `json:"path,omitempty"`
	Reason string          `json:"reason,omitempty"`
	Millis float64         `json:"ms"`
}

// log tells the client about a call, at the level that fits: a refusal is a
// warning, any other failure is info, a success is debug. Clients that asked
// for none get none. (The protocol deprecates logging from version 2026-07-28
// on; clients of today use it, and it works for another year at least.)
//
//nolint:staticcheck // see above
func (s *Server) log(ctx context.Context, req *mcp.CallToolRequest, err error, took time.Duration) {
	level := mcp.LoggingLevel("debug")
	entry := logEntry{Skill: req.Params.Name, Millis: float64(took.Microseconds()) / 1000}
	var e *fileskills.Error
	if errors.As(err, &e) {
		level = "info"
		if refusal(e.Code) {
			level = "warning"
		}
		entry.Code, entry.Path, entry.Reason = e.Code, e.Path, e.Message
	}
	// A peer that is gone is noticed by who reads from it.
	_ = req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: level, Logger: "pinfold", Data: entry})
}

// refusal says whether a failure is the policy's doing.
func refusal(c fileskills.Code) bool {
	switch c {
	case fileskills.CodePathOutsideRoot, fileskills.CodeWriteNotAllowed, fileskills.CodePathBlocked,
		fileskills.CodeSymlinkEscape, fileskills.CodePermissionDenied:
		return true
	}
	return false
}
