package permission

import "github.com/pinfold-dev/pinfold/access"

// The codes of decisions; those about files are spelled as pathresolver's rules are. Below CodeAsk all of them refuse.
const (
	CodeAllowed access.Code = "allowed"
	CodeAsk     access.Code = "ask" // refused, but may be asked for

	CodeNoPolicy      access.Code = "no_policy"      // an Enforcer without a policy
	codeUnknownAction access.Code = "unknown_action" // not one of Actions
	CodeNoIdentity    access.Code = "no_identity"    // a message or agent action from nobody

	codeInvalidPath access.Code = "invalid_path"  // not a place: see Request.Resource
	CodeOutsideRoot access.Code = "outside_root"  // a file outside the project
	CodeNotReadable access.Code = "not_readable"  // fs.read does not cover it
	CodeNoWritePath access.Code = "no_write_path" // fs.write does not cover it
	CodeHidden      access.Code = "hidden"        // fs.hide covers it
	CodeProtected   access.Code = "protected"     // fs.protect covers it, or no policy opens it

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
