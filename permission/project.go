package permission

import (
	"fmt"
	"reflect"

	"github.com/pinfold-dev/pinfold/access"
)

// ProjectFile is the name of the file at a repository's root that says what
// `pinfold check` validates there.
const ProjectFile = ".pinfold.yaml"

// Project is what ProjectFile says. It grants nothing. The struct tags are its
// schema, as those of Document are.
type Project struct {
	Version int          `yaml:"version" required:"true" doc:"The version of this schema: 1."`
	Check   ProjectCheck `yaml:"check" required:"true" doc:"What pinfold check validates when no file is named."`
}

// ProjectCheck is what `pinfold check` does without arguments. Paths are
// relative to the directory of ProjectFile.
type ProjectCheck struct {
	Policies []string `yaml:"policies" doc:"Policy files: paths and doublestar globs, relative to this file. A directory stands for the *.yaml and *.yml beneath it."`
	Agents   []string `yaml:"agents" doc:"Agent definitions: paths and doublestar globs, relative to this file. A directory stands for the *.md with front matter beneath it."`
	Strict   bool     `yaml:"strict" doc:"Whether warnings count as errors. Default: false."`
	Baseline string   `yaml:"baseline" doc:"A file of known findings, which are left out: pinfold check --write-baseline writes it."`
}

// ProjectSource is a Project together with where each of its parts stands.
type ProjectSource struct {
	file    string // as given to DecodeProject
	Project Project
	at      map[string]access.Position
}

// Position is where a part such as "check.agents[0]" stands, or the nearest part
// around it.
func (s *ProjectSource) Position(part string) access.Position { return positionAt(s.file, s.at, part) }

// DecodeProject reads and validates a ProjectFile as strictly as Decode reads a
// policy; the error is a *DocumentError with every problem found. file is what
// positions and messages call it; nothing is opened.
func DecodeProject(file string, data []byte) (*ProjectSource, error) {
	ps := &problems{file: file}
	src := &ProjectSource{file: file, at: map[string]access.Position{}}
	tree, ok := parse(ps, data)
	if !ok {
		return nil, ps.err()
	}
	decodeInto(ps, src.at, tree.root, reflect.ValueOf(&src.Project).Elem())
	if len(src.at) > 0 {
		src.validate(ps)
	}
	if err := ps.err(); err != nil {
		return nil, err
	}
	return src, nil
}

func (s *ProjectSource) validate(ps *problems) {
	v := &validator{ps: ps, src: &Source{File: s.file, at: s.at}}
	if n := s.Project.Version; n != 1 {
		v.bad("version", fmt.Sprintf("version %d is not known", n), "this program reads version: 1")
	}
	check := &s.Project.Check
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
