package permission

import "github.com/pinfold-dev/pinfold/access"

// FlagsGemini returns the flags of Gemini CLI.
func FlagsGemini(p *Policy, opt LaunchOptions) Launch {
	mode := "plan" // reads only
	switch {
	case p.writesAnything() && opt.Headless:
		mode = "auto_edit"
	case p.writesAnything():
		mode = "default"
	}
	l := Launch{Args: []string{"--approval-mode", mode}}
	if opt.Root != "" {
		l.Notes = append(l.Notes, "gemini works in the directory that it is started in: start it in "+opt.Root)
	}
	if mode == "auto_edit" && p.toolEffect("Bash") != access.Deny {
		l.Notes = append(l.Notes, "gemini refuses commands in auto_edit when nobody is there to allow them; its policy files can")
	}
	l.Notes = append(l.Notes, "gemini cannot be told by flags which tools it has")
	l.Notes = append(l.Notes, p.fileNotes("gemini")...)
	return l
}
