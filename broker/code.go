package broker

import "github.com/pinfold-dev/pinfold/access"

// The broker's own codes, besides those of permission.
const (
	CodeDenied        access.Code = "denied_by_manager"         // the manager said no
	codeNoManager     access.Code = "no_manager"                // there is nobody to ask
	codeApproverGone  access.Code = "approver_gone"             // the manager was fired or has exited
	codeAgentGone     access.Code = "agent_gone"                // the agent itself was fired or has exited
	codeInterrupted   access.Code = "interrupted"               // the agent was interrupted
	codeDeadlock      access.Code = "deadlock"                  // agents wait for each other in a circle
	codeExpired       access.Code = "expired"                   // nobody answered within approvals.max_wait
	codeApproverLacks access.Code = "approver_lacks_permission" // the manager itself may not do it
	codeRequestFailed access.Code = "request_failed"            // the row has vanished

	CodeNotFound     access.Code = "not_found"
	CodeNotManager   access.Code = "not_manager"      // who answers is not the agent's manager
	CodeResolved     access.Code = "already_resolved" // with another answer
	CodeMismatch     access.Code = "digest_mismatch"  // the answer is about another request
	CodeInvalid      access.Code = "invalid"          // a malformed argument
	CodeExists       access.Code = "exists"           // the id is taken
	CodeTooMany      access.Code = "too_many"         // a bound of Limits
	CodeTooLarge     access.Code = "too_large"        // a bound of Limits
	CodeRateLimited  access.Code = "rate_limited"
	codeHopLimit     access.Code = "hop_limit"
	codeLoop         access.Code = "loop"
	codeLeftOut      access.Code = "left_out"    // attempts that have no record of their own
	CodeUnavailable  access.Code = "unavailable" // the store failed; nothing was done
	CodeOperatorOnly access.Code = "operator_only"
)
