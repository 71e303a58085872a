package permission

import (
	"fmt"
	"reflect"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/policies"
)

// projectSource is a policies.Project together with where each of its parts stands.
type projectSource struct {
	policies.Project
	file string // as given to decodeProject
	at   map[string]access.Position
}

// decodeProject is policies.DecodeProject.
func decodeProject(file string, data []byte) (policies.Project, func(string) access.Position, error) {
	ps := &problems{file: file}
	src := &projectSource{file: file, at: map[string]access.Position{}}
	tree, ok := parse(ps, data)
	if !ok {
		return src.Project, nil, ps.err()
	}
	decodeInto(ps, src.at, tree.root, reflect.ValueOf(&src.Project).Elem())
	if len(src.at) > 0 {
		src.validate(ps)
	}
	return src.Project, func(part string) access.Position { return positionAt(file, src.at, part) }, ps.err()
}

func (s *projectSource) validate(ps *problems) {
	v := &validator{ps: ps, src: &Source{File: s.file, at: s.at}}
	if n := s.Version; n != 1 {
		v.bad("version", fmt.Sprintf("version %d is not known", n), "this program reads version: 1")
	}
	check := &s.Check
	v.patterns("check.policies", check.Policies, false)
	v.patterns("check.agents", check.Agents, false)
	if len(check.Policies)+len(check.Agents) == 0 {
		v.badCode("missing_key", "check", "check names nothing", "list 'policies' or 'agents'")
	}
	v.plain("check.baseline", check.Baseline)
	if leadsOut(check.Baseline) {
		v.bad("check.baseline", fmt.Sprintf("check.baseline: '%s' lies elsewhere", check.Baseline), "name a file beneath the directory of this one")
	}
}
