package permission

import (
	"errors"
	"time"

	"github.com/pinfold-dev/pinfold/access"
)

// Document is one policy document as its author wrote it: schema version 1. The struct
// tags are the schema; decoding, encoding and the JSON Schema are made from them. An
// absent key is a nil slice, map or pointer, or an empty string, and means "inherit";
// an empty list means "none".
type Document struct {
	Version      int                             `yaml:"version" required:"true" doc:"The version of this schema: 1."`
	Name         string                          `yaml:"name" doc:"What decisions and messages call this document. Letters, digits and . _ @ + -; none of parent, children, family, siblings. Default: the file's name."`
	Description  string                          `yaml:"description" doc:"A sentence for people."`
	Extends      string                          `yaml:"extends" doc:"What this document starts from: a preset (sandboxed, worker, trusted, yolo), a profile (READ_ONLY, WRITE, VERIFICATION, DESIGN) or a file beside this one. Without it nothing is inherited, and what the document does not grant is denied."`
	OperatorOnly bool                            `yaml:"operator_only" doc:"Only the operator may give this policy: no agent may give it to a child."`
	FS           *FS                             `yaml:"fs" style:"block" doc:"What may be done with files beneath the project's root."`
	Tools        map[string]Tool                 `yaml:"tools" doc:"Tools by name. A tool that no document names is denied, unless defaults says otherwise."`
	Defaults     map[access.Action]access.Effect `yaml:"defaults" doc:"What holds for an action that no other rule of this document speaks of. Absent means that this document says nothing about it."`
	BashPolicy   BashPolicy                      `yaml:"bash_policy" doc:"What the agent's shell is meant for. Advice to the agent's own command line, since the view is the boundary; but none refuses the tools that execute."`
	BashCommands []string                        `yaml:"bash_commands" doc:"Commands that the agent's shell is meant to run, such as 'git add'. Advice, like bash_policy."`
	Network      *Network                        `yaml:"network" doc:"What the agent reaches: true is all that the host reaches, false is nothing, and a mapping names the hosts. Absent everywhere means nothing."`
	Targets      map[access.Action]Targets       `yaml:"targets" doc:"Which agents an action may be aimed at: parent, children, family (parent and children), siblings, or a list of agent ids. [] is nobody."`
	CrossSend    *CrossSend                      `yaml:"cross_send" doc:"Which sessions messages may be sent to. Absent everywhere means the agent's parent and its own sessions."`
	Approvals    *Approvals                      `yaml:"approvals" doc:"How what needs asking is asked for."`
	Roles        map[string]string               `yaml:"roles" doc:"The profile, preset or file for each launch role or agent type. An unknown role is READ_ONLY."`
}

// FS are the rules about files. Every entry is a path or a doublestar glob
// relative to the project's root, and covers what it matches with all that is
// beneath.
type FS struct {
	Read          []string      `yaml:"read" doc:"What may be read; nothing else may. Use [.] for all of the project."`
	Write         []string      `yaml:"write" doc:"What may be changed, made and removed; nothing else may. [] is nothing."`
	AskRead       []string      `yaml:"ask_read" doc:"What may be read only after asking."`
	AskWrite      []string      `yaml:"ask_write" doc:"What may be changed only after asking. Refused until then."`
	Hide          []string      "yaml:\"hide\" doc:\"What does not exist in the view, and is left out of every listing and search; a skill that names it is refused (`hidden`), whether or not it exists. Letter case is ignored.\""
	Mask          []string      "yaml:\"mask\" doc:\"What programs in the view read with stand-ins in the place of its values, and nobody changes; a skill that reads it is refused (`masked`). Letter case is ignored.\""
	Protect       []string      `yaml:"protect" doc:"What may be read but never changed, also beneath a write path. Letter case is ignored."`
	Unprotect     []string      `yaml:"unprotect" doc:"Files that programs run by themselves and that may be changed nevertheless, where a write path covers them: names or globs of the list in protected-files.md. It only counts where every policy of the chain has it. Together with ask_write it makes them ones to ask for."`
	Outside       access.Effect `yaml:"outside" doc:"What holds for files outside the project's root. Absent everywhere means deny."`
	WriteRequired bool          `yaml:"write_required" doc:"At least one write path must be given, here or by the caller."`
}

// Tool is what holds for one tool.
type Tool struct {
	Enabled              bool     `yaml:"enabled" always:"true" doc:"Whether the tool may be used. Default: true."`
	AllowedPaths         []string `yaml:"allowed_paths" doc:"Paths and globs that this tool may touch, within what the policy allows anyway."`
	AllowedTargets       Targets  `yaml:"allowed_targets" doc:"Which agents this tool may be aimed at. Absent means that this entry does not restrict it."`
	Timeout              int      `yaml:"timeout" doc:"Seconds after which a call ends with the code timeout: 1 to 86400."`
	RequiresConfirmation bool     `yaml:"requires_confirmation" doc:"Turns allow into ask."`
}

// CrossSend is a send ACL over session keys agent:<id>:<session...>.
type CrossSend struct {
	Mode      Mode     `yaml:"mode" required:"true" doc:"bypass: any session. allowlist: those that a pattern matches. denylist: all others."`
	Allowlist []string `yaml:"allowlist" doc:"Patterns over session keys, read in allowlist mode."`
	Denylist  []string `yaml:"denylist" doc:"Patterns over session keys, read in denylist mode."`
}

// Approvals are about requests whose decision is ask.
type Approvals struct {
	Default  Asking   `yaml:"default" doc:"ask: put them to the manager. deny: refuse them at once. Default: ask."`
	FUSEWait Duration `yaml:"fuse_wait" doc:"How long opening an existing file in the view may wait for an answer, such as 20s. Default: not at all."`
	MaxWait  Duration `yaml:"max_wait" doc:"How long any request may wait, such as 1h. Default: for ever."`
}

// Duration is a positive time such as 20s or 1h30m. Zero means absent.
type Duration time.Duration

// String is the shortest spelling that reads back as the same time.
func (d Duration) String() string {
	s := time.Duration(d).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if n := len(s) - len(zero); n >= 0 && s[n:] == zero {
			s = s[:n+1]
		}
	}
	return s
}

func parseDuration(s string) (Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, errors.New("want a positive time such as 20s or 1h30m")
	}
	return Duration(d), nil
}
