// Package approvals has the commands with which agents ask and people answer:
// request, requests, approve, deny, grants, revoke.
package approvals
