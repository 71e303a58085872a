package permission

import (
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// settle fills in what was found.
func settle(d access.Decision, f finding) access.Decision {
	d.Effect, d.Code = f.effect(), f.code
	if f.code == "" {
		d.Code = codeFor(f.opinion, codeNotGranted)
	}
	if f.rule != nil {
		d.Rule, d.Layer, d.Source, d.Pattern = f.rule.id, f.rule.layer, f.rule.at, f.rule.text
	}
	return d
}

// explainer puts the decisions of a policy into words; nil has no policy.
type explainer Policy

var _ access.Explainer = (*explainer)(nil)

// Explain implements access.Explainer. The reason ends with where the rule stands,
// except for a send ACL, whose text is fixed to the letter, and where a person has
// given the reason.
func (e *explainer) Explain(d access.Decision) access.Words {
	w := access.Words{Cause: d.Said()}
	if w.Cause == "" {
		w.Cause = e.reason(&d)
	}
	w.Reason = w.Cause
	if d.Said() == "" && d.Rule != "" && !fixedText(d.Code) {
		w.Reason = fmt.Sprintf("%s [%s, %s]", w.Cause, d.Rule, d.Source)
	}
	w.Text = w.Reason
	if !d.Allowed() && isAboutFile(&d) {
		w.Text = e.refusal(&d, w.Reason)
	}
	return w
}

// refusal is the text of a refused file, in the words of every surface.
func (e *explainer) refusal(d *access.Decision, reason string) string {
	denied := pathresolver.DeniedError{Path: d.Resource, Place: d.Resource, Rule: d.Code, Reason: reason}
	if d.Code == pathresolver.RuleOutsideRoot {
		denied.Place = ""
	}
	denied.Op, _ = d.Action.Op()
	if d.Action.Kind() != access.KindWrite {
		denied.Op = access.OpRead
	} else if e != nil {
		denied.Allowed = (*Policy)(e).writable()
	}
	return denied.Error()
}

func isAboutFile(d *access.Decision) bool {
	return strings.HasPrefix(string(d.Action), "fs.") && d.Code != codeToolDisabled && d.Code != CodeToolNotDeclared && d.Code != codeNoExecution
}

// fixedText are the codes whose text is fixed to the letter.
func fixedText(c access.Code) bool {
	switch c {
	case codeTargetNotParent, codeTargetNotChild, codeTargetNotFamily, codeTargetNotSibling, CodeTargetNotListed, CodeMissingTarget, CodeCrossSend:
		return true
	}
	return false
}

func (e *explainer) reason(d *access.Decision) string {
	tool := d.Tool
	if tool == "" {
		tool = string(d.Action)
	}
	parent := d.Parent
	if parent == "" {
		parent = "none"
	}
	target := AgentOf(d.Resource)
	switch d.Code {
	case CodeAllowed:
		return "allowed"
	case pathresolver.RuleAsk:
		return "it is refused, but could be asked for"
	case codeApprovalsOff:
		return "it would have to be asked for, and approvals.default is deny"
	case CodeNoPolicy:
		return "there is no policy"
	case codeUnknownAction:
		return fmt.Sprintf("unknown action %q", d.Action)
	case CodeNoIdentity:
		return "the request comes from no known agent"
	case pathresolver.RuleInvalidPath:
		return "the path is no place beneath the root: it is empty, too long, not clean, or holds NUL"
	case pathresolver.RuleOutsideRoot:
		return "it lies outside the project"
	case pathresolver.RuleNotReadable:
		return "fs.read does not cover it"
	case pathresolver.RuleNoWritePath:
		return "no write path covers it. Reading is allowed"
	case pathresolver.RuleHidden:
		return fmt.Sprintf("the name is hidden by '%s'", d.Pattern)
	case pathresolver.RuleMasked:
		return fmt.Sprintf("its values are masked by '%s': only programs in a view read it, with stand-ins for them", d.Pattern)
	case pathresolver.RuleProtected:
		return protectedReason(d.Layer, d.Pattern)
	case codeToolDisabled:
		return fmt.Sprintf("Tool '%s' is disabled", decidedTool(d))
	case CodeToolNotDeclared:
		return fmt.Sprintf("Tool '%s' is not declared by the policy", decidedTool(d))
	case codeNoExecution:
		return fmt.Sprintf("Tool '%s' runs commands, and bash_policy is none", decidedTool(d))
	case codeToolPath:
		return fmt.Sprintf("allowed_paths of tool '%s' does not cover it", decidedTool(d))
	case codeActionDenied:
		return fmt.Sprintf("action '%s' is denied", d.Action)
	case codeNotGranted:
		return fmt.Sprintf("no rule grants action '%s'", d.Action)
	case CodeMissingTarget:
		return "no agent_id provided"
	case CodeInvalidTarget:
		return fmt.Sprintf("%q is no agent's id and no session key", d.Resource)
	case codeTargetNotParent:
		return fmt.Sprintf("Tool '%s' can only target parent agent ('%s')", tool, parent)
	case codeTargetNotChild:
		return fmt.Sprintf("Tool '%s' can only target child agents", tool)
	case codeTargetNotFamily:
		return fmt.Sprintf("Tool '%s' can only target parent or child agents", tool)
	case codeTargetNotSibling:
		return fmt.Sprintf("Tool '%s' can only target sibling agents", tool)
	case CodeTargetNotListed:
		return fmt.Sprintf("Tool '%s' cannot target agent '%s'", tool, target)
	case codeUnknownRestriction:
		return fmt.Sprintf("Tool '%s' has a target restriction that is not known", tool)
	case CodeCrossSend:
		return (*Policy)(e).crossSendText(d)
	}
	return string(d.Code)
}

func decidedTool(d *access.Decision) string {
	if d.Action == access.ToolUse {
		return d.Resource
	}
	return d.Tool
}
