package permission

// Code is the stable identifier of a decision's reason. Those about files are
// spelled as pathresolver's rules are.
type Code string

// The codes of decisions. Below CodeAsk all of them refuse.
const (
	CodeAllowed Code = "allowed"
	CodeAsk     Code = "ask" // refused, but may be asked for

	CodeNoPolicy      Code = "no_policy"      // an Enforcer without a policy
	CodeUnknownAction Code = "unknown_action" // not one of Actions
	CodeNoIdentity    Code = "no_identity"    // a message or agent action from nobody

	CodeInvalidPath Code = "invalid_path"  // not a place: see Request.Resource
	CodeOutsideRoot Code = "outside_root"  // a file outside the project
	CodeNotReadable Code = "not_readable"  // fs.read does not cover it
	CodeNoWritePath Code = "no_write_path" // fs.write does not cover it
	CodeHidden      Code = "hidden"        // fs.hide covers it
	CodeProtected   Code = "protected"     // fs.protect covers it, or M11

	CodeToolDisabled    Code = "tool_disabled"     // enabled: false
	CodeToolNotDeclared Code = "tool_not_declared" // no document names it
	CodeToolPath        Code = "tool_path"         // allowed_paths does not cover it
	CodeNoExecution     Code = "no_execution"      // bash_policy: none
	CodeActionDenied    Code = "action_denied"     // defaults says deny
	CodeNotGranted      Code = "not_granted"       // no document speaks of the action

	CodeMissingTarget      Code = "missing_target"
	CodeInvalidTarget      Code = "invalid_target" // no agent's id and no session key
	CodeTargetNotParent    Code = "target_not_parent"
	CodeTargetNotChild     Code = "target_not_child"
	CodeTargetNotFamily    Code = "target_not_family"
	CodeTargetNotSibling   Code = "target_not_sibling"
	CodeTargetNotListed    Code = "target_not_listed"
	CodeUnknownRestriction Code = "unknown_restriction"
	CodeCrossSend          Code = "cross_send"    // the send ACL does not allow it
	CodeApprovalsOff       Code = "approvals_off" // it needs asking, and approvals.default is deny
)
