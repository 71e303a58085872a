package permission

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
