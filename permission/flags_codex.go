package permission

import "github.com/pinfold-dev/pinfold/access"

// FlagsCodex returns the flags of the Codex command line, for `codex` and for
// `codex exec`.
func FlagsCodex(p *Policy, opt LaunchOptions) Launch {
	sandbox := "read-only"
	if p.writesAnything() {
		sandbox = "workspace-write"
	}
	approval := "on-request"
	if opt.Headless {
		approval = "never"
	}
	l := Launch{Args: []string{"--sandbox", sandbox, "-c", "approval_policy=" + approval}}
	if on, _, _ := p.Network(); on && sandbox == "workspace-write" {
		l.Args = append(l.Args, "-c", "sandbox_workspace_write.network_access=true")
	}
	if opt.Root != "" {
		l.Args = append(l.Args, "--cd", opt.Root)
	}
	l.Notes = append(l.Notes, "codex cannot be told which tools it has")
	if p.toolEffect("Bash") == access.Deny {
		l.Notes = append(l.Notes, "codex cannot be told to run no commands, which this policy refuses")
	}
	l.Notes = append(l.Notes, p.fileNotes("codex")...)
	return l
}
