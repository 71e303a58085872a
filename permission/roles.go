package permission

// DefaultProfile is what an agent gets that nobody has described.
const DefaultProfile = "READ_ONLY"

// Role returns the name of the profile, preset or file for a launch role or an
// agent type (P3-P6, P9): what the innermost document of the chain that names
// it says, else what pinfold knows of agent types, else DefaultProfile.
func (p *Policy) Role(role string) string {
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
