package permission

import "github.com/pinfold-dev/pinfold/access"

// The codes of decisions, beside pathresolver's rules about files. All but CodeAllowed
// refuse; what pathresolver.RuleAsk refuses may be asked for.
const (
	CodeAllowed access.Code = "allowed"

	CodeNoPolicy      access.Code = "no_policy"      // an Enforcer without a policy
	codeUnknownAction access.Code = "unknown_action" // not one of Actions
	CodeNoIdentity    access.Code = "no_identity"    // a message or agent action from nobody

	codeToolDisabled    access.Code = "tool_disabled"     // enabled: false
	CodeToolNotDeclared access.Code = "tool_not_declared" // no document names it
	codeToolPath        access.Code = "tool_path"         // allowed_paths does not cover it
	codeNoExecution     access.Code = "no_execution"      // bash_policy: none
	codeActionDenied    access.Code = "action_denied"     // defaults says deny
	codeNotGranted      access.Code = "not_granted"       // no document speaks of the action

	CodeMissingTarget      access.Code = "missing_target"
	CodeInvalidTarget      access.Code = "invalid_target" // no agent's id and no session key
	codeTargetNotParent    access.Code = "target_not_parent"
	codeTargetNotChild     access.Code = "target_not_child"
	codeTargetNotFamily    access.Code = "target_not_family"
	codeTargetNotSibling   access.Code = "target_not_sibling"
	CodeTargetNotListed    access.Code = "target_not_listed"
	codeUnknownRestriction access.Code = "unknown_restriction"
	CodeCrossSend          access.Code = "cross_send"    // the send ACL does not allow it
	codeApprovalsOff       access.Code = "approvals_off" // it needs asking, and approvals.default is deny
)
