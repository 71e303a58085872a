package broker

import "github.com/pinfold-dev/pinfold/permission"

// Code is the stable identifier of a reason: a permission.Code, or one of the
// broker's own.
type Code = permission.Code

// The broker's own codes.
const (
	CodeDenied        Code = "denied_by_manager"         // the manager said no
	CodeNoManager     Code = "no_manager"                // there is nobody to ask
	CodeApproverGone  Code = "approver_gone"             // the manager was fired or has exited
	CodeAgentGone     Code = "agent_gone"                // the agent itself was fired or has exited
	CodeInterrupted   Code = "interrupted"               // the agent was interrupted
	CodeDeadlock      Code = "deadlock"                  // agents wait for each other in a circle
	CodeExpired       Code = "expired"                   // nobody answered within approvals.max_wait
	CodeApproverLacks Code = "approver_lacks_permission" // the manager itself may not do it
	CodeRequestFailed Code = "request_failed"            // the row has vanished

	CodeNotFound     Code = "not_found"
	CodeNotManager   Code = "not_manager"      // who answers is not the agent's manager
	CodeResolved     Code = "already_resolved" // with another answer
	CodeMismatch     Code = "digest_mismatch"  // the answer is about another request
	CodeInvalid      Code = "invalid"          // a malformed argument
	CodeExists       Code = "exists"           // the id is taken
	CodeTooMany      Code = "too_many"         // a bound of Limits
	CodeTooLarge     Code = "too_large"        // a bound of Limits
	CodeRateLimited  Code = "rate_limited"     // X16
	CodeHopLimit     Code = "hop_limit"        // X16
	CodeLoop         Code = "loop"             // X16
	CodeUnavailable  Code = "unavailable"      // the store failed; nothing was done
	CodeOperatorOnly Code = "operator_only"
)
