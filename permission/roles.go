package permission

import (
	"errors"
	"fmt"

	"github.com/pinfold-dev/pinfold/pathresolver"
)

// DefaultProfile is the profile of an agent that no document describes.
const DefaultProfile = "READ_ONLY"

// role returns the name of the profile, preset or file for a launch role or an agent
// type: from the innermost document of the chain that names it, else from what pinfold
// knows of agent types, else DefaultProfile.
func (p *Policy) role(role string) string {
	layers := p.layers()
	for i := len(layers) - 1; i >= 0; i-- {
		if profile, ok := layers[i].src.Document.Roles[role]; ok {
			return profile
		}
	}
	return profileFor(role)
}

// profileFor is Role without a policy: what pinfold knows of agent types.
func profileFor(agentType string) string {
	if src, err := decodeBuiltin("agents"); err == nil {
		if profile, ok := src.Document.Roles[agentType]; ok {
			return profile
		}
	}
	return DefaultProfile
}

// roles are the roles that the chain names.
func (p *Policy) roles() []string {
	var list []string
	for _, l := range p.layers() {
		list = append(list, sorted(l.src.Document.Roles)...)
	}
	return list
}

// ForRole is the policy of a launch role, such as verify, or of an agent type: the profile,
// preset or file that within names for it, held within that policy, else the one that
// pinfold knows, else DefaultProfile, which a warning says. within may be nil. What within
// does not have is left out, with a warning for each. opt is as for Compile.
func ForRole(role string, within *Policy, opt Options) (*Policy, []Problem, error) {
	if err := CheckID(role); err != nil {
		return nil, nil, fmt.Errorf("role: %w", err)
	}
	warn := func(code, message, hint string) Problem {
		return Problem{Severity: pathresolver.SeverityWarning, Code: code, Path: "roles." + role, Message: message, Hint: hint}
	}
	var found []Problem
	named := within != nil && contains(within.roles(), role)
	name := profileFor(role)
	if named {
		name = within.role(role)
	} else if !knownAgent(role) {
		found = append(found, warn("unknown_role", fmt.Sprintf("role '%s' is not known: it is %s", role, DefaultProfile), "'roles: {"+role+": PROFILE}' in a policy says what it is"))
	}
	p, err := compileNamed(name, within, opt)
	if err != nil || within == nil {
		return p, found, err
	}
	p, excess, err := within.Child(p, Clamp)
	for _, x := range excess {
		found = append(found, warn("beyond_policy", x.Message, "the policy decides: it is left out"))
	}
	return p, found, err
}

// compileNamed compiles what roles name: a preset, a profile, or a file beside the document.
func compileNamed(name string, within *Policy, opt Options) (*Policy, error) {
	src, err := builtin(name)
	switch {
	case err != nil:
		return nil, err
	case src != nil:
		return Compile(src, opt)
	case opt.FS == nil || within == nil:
		return nil, errors.New("roles: '" + name + "' is no preset or profile, and no file is opened here")
	}
	sources := within.Sources()
	ref := &Source{File: sources[len(sources)-1].File, Document: Document{Version: 1, Extends: name}}
	return Compile(ref, opt)
}
