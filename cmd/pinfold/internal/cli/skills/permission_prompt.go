package skills

import (
	"context"
	"encoding/json"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/claudecode"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/fileskills/mcpserver"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// promptTool is the tool for Claude Code's --permission-prompt-tool, which calls
// it where it would ask its user. Nobody is there to be asked by it, so what a
// person would have to decide is refused.
func (f *mcpFlags) promptTool(r *pathresolver.Resolver) mcpserver.Tool {
	j := f.claudeJudge(r)
	return mcpserver.Tool{
		Name:        "permission_prompt",
		Description: "For the program itself, not for a model: says whether one of its tools may be called.",
		InputSchema: json.RawMessage(claudecode.PromptSchema),
		ReadOnly:    true,
		Call: func(ctx context.Context, input json.RawMessage) (string, error) {
			in, err := claudecode.ReadPrompt(input)
			if err != nil {
				return "", &fileskills.Error{Code: fileskills.CodeInvalidArgument, Message: err.Error()}
			}
			b, reason, err := j.answer(ctx, in.Tool, in.Input, "")
			if err != nil {
				reason = err.Error()
			}
			return claudecode.PromptAnswer(in, b == claudecode.Allow && err == nil, orElse(reason, "no policy speaks of this tool"))
		},
	}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// claudeJudge decides by what the flags, or the agent's own policy, say. set was
// called before.
func (f *skillFlags) claudeJudge(r *pathresolver.Resolver) *claudeJudge {
	return &claudeJudge{callJudge: f.by, held: f.Held, cfg: f.cfg, resolver: r, view: inside.Run()}
}
