package permission

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// Decision is the answer to a Request. It names the rule that decided, the
// layer that holds it, and where it stands.
type Decision struct {
	Effect Effect
	Code   Code
	Rule   string   // layer:path, such as worker-docs:fs.write[0]; "" where no rule spoke
	Layer  string   // the document's name; "" where no rule spoke
	Source Position // where the rule stands

	// Access is the one of the request's accesses that decided.
	access.Access
	Principal string
	Tool      string
	Timeout   int // seconds that an allowed tool may take; 0 for no limit

	policy *Policy
	text   string // of the rule
	parent string
	acl    *sendACL
	hit    string
	said   string // somebody's own reason
}

// settle fills in what was found.
func (d Decision) settle(f finding) Decision {
	d.Effect, d.Code, d.acl, d.hit = f.effect(), f.code, f.acl, f.hit
	if f.code == "" {
		d.Code = codeFor(f.opinion, CodeNotGranted)
	}
	if f.rule != nil {
		d.Rule, d.Layer, d.Source, d.text = f.rule.id, f.rule.layer, f.rule.at, f.rule.text
	}
	return d
}

// Allowed reports whether it may be done now.
func (d Decision) Allowed() bool { return d.Effect == Allow }

// Err is nil for what is allowed, and a *RefusedError otherwise.
func (d Decision) Err() error {
	if d.Allowed() {
		return nil
	}
	return &RefusedError{Decision: d}
}

// RefusedError is a refusal as an error. It is fs.ErrPermission under
// errors.Is.
type RefusedError struct{ Decision Decision }

func (e *RefusedError) Error() string { return e.Decision.Text() }

// Is reports whether target is fs.ErrPermission.
func (e *RefusedError) Is(target error) bool { return target == fs.ErrPermission }

// Text is what the one who asked is told. Of a file that is W13's text: the
// first line is fixed, the next gives the reason.
func (d Decision) Text() string {
	if d.Allowed() || !d.isFile() {
		return d.Reason()
	}
	return "Path '" + pathresolver.EscapePath(d.Resource) + "' is outside the allowed sandbox\n" +
		fmt.Sprintf("%s refused (%s): %s\n%s", d.Action, d.Code, d.Reason(), d.allowedText())
}

// allowedText says what would be allowed.
func (d Decision) allowedText() string {
	if d.Action.Kind() != access.KindWrite {
		return "Readable: everything beneath the sandbox root that is not hidden"
	}
	var writable []string
	if d.policy != nil {
		writable = d.policy.writable()
	}
	if len(writable) == 0 {
		return "Writable: nothing (no write path is set)"
	}
	if slices.Contains(writable, ".") { // a lone "." reads as the end of a sentence
		return "Writable: everything beneath the sandbox root that is neither hidden nor protected"
	}
	return "Writable: " + pathresolver.EscapePath(listText(writable))
}

func (d Decision) isFile() bool {
	return strings.HasPrefix(string(d.Action), "fs.") && d.Code != CodeToolDisabled && d.Code != CodeToolNotDeclared && d.Code != CodeNoExecution
}

// Reason is one sentence without a full stop, but for a send ACL, whose text
// is X8's, and for what somebody said who was asked. It ends with where the rule stands, if a rule decided.
func (d Decision) Reason() string {
	if d.said != "" {
		return d.said
	}
	reason := d.reason()
	if d.Rule == "" || fixedText(d.Code) {
		return reason
	}
	return fmt.Sprintf("%s [%s, %s]", reason, d.Rule, d.Source)
}

// fixedText are the codes whose text is fixed to the letter.
func fixedText(c Code) bool {
	switch c {
	case CodeTargetNotParent, CodeTargetNotChild, CodeTargetNotFamily, CodeTargetNotSibling, CodeTargetNotListed, CodeMissingTarget, CodeCrossSend:
		return true
	}
	return false
}

func (d *Decision) reason() string {
	tool := d.Tool
	if tool == "" {
		tool = string(d.Action)
	}
	parent := d.parent
	if parent == "" {
		parent = "none"
	}
	target := AgentOf(d.Resource)
	switch d.Code {
	case CodeAllowed:
		return "allowed"
	case CodeAsk:
		return "it is refused, but could be asked for"
	case CodeApprovalsOff:
		return "it would have to be asked for, and approvals.default is deny"
	case CodeNoPolicy:
		return "there is no policy"
	case CodeUnknownAction:
		return fmt.Sprintf("unknown action %q", d.Action)
	case CodeNoIdentity:
		return "the request comes from no known agent"
	case CodeInvalidPath:
		return "the path is no place beneath the root: it is empty, too long, not clean, or holds NUL"
	case CodeOutsideRoot:
		return "it lies outside the project"
	case CodeNotReadable:
		return "fs.read does not cover it"
	case CodeNoWritePath:
		return "no write path covers it. Reading is allowed"
	case CodeHidden:
		return fmt.Sprintf("the name is hidden by '%s'", d.text)
	case CodeProtected:
		return protectedReason(d.Layer, d.text)
	case CodeToolDisabled:
		return fmt.Sprintf("Tool '%s' is disabled", d.toolName())
	case CodeToolNotDeclared:
		return fmt.Sprintf("Tool '%s' is not declared by the policy", d.toolName())
	case CodeNoExecution:
		return fmt.Sprintf("Tool '%s' runs commands, and bash_policy is none", d.toolName())
	case CodeToolPath:
		return fmt.Sprintf("allowed_paths of tool '%s' does not cover it", d.toolName())
	case CodeActionDenied:
		return fmt.Sprintf("action '%s' is denied", d.Action)
	case CodeNotGranted:
		return fmt.Sprintf("no rule grants action '%s'", d.Action)
	case CodeMissingTarget:
		return "no agent_id provided"
	case CodeInvalidTarget:
		return fmt.Sprintf("%q is no agent's id and no session key", d.Resource)
	case CodeTargetNotParent:
		return fmt.Sprintf("Tool '%s' can only target parent agent ('%s')", tool, parent)
	case CodeTargetNotChild:
		return fmt.Sprintf("Tool '%s' can only target child agents", tool)
	case CodeTargetNotFamily:
		return fmt.Sprintf("Tool '%s' can only target parent or child agents", tool)
	case CodeTargetNotSibling:
		return fmt.Sprintf("Tool '%s' can only target sibling agents", tool)
	case CodeTargetNotListed:
		return fmt.Sprintf("Tool '%s' cannot target agent '%s'", tool, target)
	case CodeUnknownRestriction:
		return fmt.Sprintf("Tool '%s' has a target restriction that is not known", tool)
	case CodeCrossSend:
		return d.crossSendText()
	}
	return string(d.Code)
}

func (d *Decision) toolName() string {
	if d.Action == access.ToolUse {
		return d.Resource
	}
	return d.Tool
}
