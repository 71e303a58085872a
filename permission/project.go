package permission

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/didyoumean"
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
	_, checks := s.at["check"]
	if !checks && s.Run == nil {
		ps.add(Problem{Position: access.Position{File: s.file, Line: 1, Column: 1}, Code: "missing_key", Path: "check",
			Message: "neither 'check' nor 'run' is given", Hint: "'pinfold init --print' prints a 'run' for this project"})
	}
	if s.Run != nil {
		v.run(s.Run)
	}
	if !checks {
		return
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

var variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

func (v *validator) run(run *policies.ProjectRun) {
	v.patterns("run.hide", run.Hide, false)
	v.patterns("run.mask", run.Mask, false)
	v.patterns("run.protect", run.Protect, false)
	for i, p := range run.Write {
		at := fmt.Sprintf("run.write[%d]", i)
		if v.plain(at, p) && leadsOut(p) {
			v.bad(at, fmt.Sprintf("%s: '%s' lies elsewhere", at, p), "a write path lies beneath the directory of this file, and is relative to it")
		}
	}
	for i, p := range run.RO {
		v.hostPath(fmt.Sprintf("run.ro[%d]", i), p)
	}
	if run.Home != "" {
		v.hostPath("run.home", run.Home)
	}
	for i, name := range run.Cache {
		v.word(fmt.Sprintf("run.cache[%d]", i), name, policies.Caches())
	}
	for i, name := range run.Env {
		if at := fmt.Sprintf("run.env[%d]", i); !variableName().MatchString(name) {
			v.bad(at, fmt.Sprintf("%s: '%s' is not the name of a variable", at, name), "name it here, and set it where you type the command")
		}
	}
	v.secrets("run.secrets", run.Secrets)
	v.secrets("run.secret_files", run.SecretFiles)
	for i, entry := range run.Sockets {
		if at, _, _ := strings.Cut(entry, ":"); !slices.Contains([]string{"ssh-agent", "gpg-agent", "docker"}, entry) {
			v.hostPath(fmt.Sprintf("run.sockets[%d]", i), at)
		}
	}
	for i, p := range run.Devices {
		if at := fmt.Sprintf("run.devices[%d]", i); v.plain(at, p) && (!strings.HasPrefix(p, "/dev/") || strings.Contains(p+"/", "/../")) {
			v.bad(at, fmt.Sprintf("%s: '%s' does not begin with /dev/, or leads up", at, p), "")
		}
	}
	v.hosts("run.allow_host", run.AllowHost)
	if run.Net == "none" && len(run.AllowHost) > 0 {
		v.bad("run.allow_host", "run.allow_host lists hosts, and run.net is none", "write 'net: allow'")
	}
	if run.Limits != nil {
		v.limits(run.Limits)
	}
	if run.Preset != "" && !slices.Contains(Builtins(), run.Preset) {
		v.badCode("unknown_word", "run.preset", fmt.Sprintf("run.preset: unknown preset %q", run.Preset), didyoumean.Hint(run.Preset, Builtins()))
	}
}

// secrets refuses what is not NAME=FILE with a path of the host. A value that stands
// there by mistake is not repeated.
func (v *validator) secrets(at string, list []string) {
	for i, entry := range list {
		at := fmt.Sprintf("%s[%d]", at, i)
		name, file, ok := strings.Cut(entry, "=")
		if !ok || !variableName().MatchString(name) {
			v.bad(at, at+" is not NAME=FILE", "the value stands in a file outside of the project, and not here")
			continue
		}
		v.hostPath(at, file)
	}
}

var size = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[1-9][0-9]{0,5}[KMGT]?$`) })

// limits refuses bounds that pinfold run would not take.
func (v *validator) limits(l *policies.ProjectLimits) {
	given := func(key string) bool { _, is := v.src.at["run.limits."+key]; return is }
	if given("time") {
		if t, err := time.ParseDuration(l.Time); err != nil || t <= 0 {
			v.bad("run.limits.time", fmt.Sprintf("run.limits.time: '%s' is no time", l.Time), "such as 30s, 10m or 2h")
		}
	}
	if given("pids") && l.PIDs <= 0 {
		v.bad("run.limits.pids", fmt.Sprintf("run.limits.pids: %d is less than one process", l.PIDs), "")
	}
	if given("memory") && !size().MatchString(l.Memory) {
		v.bad("run.limits.memory", fmt.Sprintf("run.limits.memory: '%s' is no size", l.Memory), "such as 512M or 2G")
	}
	if given("cpu") && !(l.CPU >= 0.01 && l.CPU <= 1<<20) { // nor what is no number
		v.bad("run.limits.cpu", fmt.Sprintf("run.limits.cpu: %v is no number of processors", l.CPU), "such as 0.5 or 2")
	}
}

// hostPath refuses a path of the host that means another place for each who reads it.
func (v *validator) hostPath(at, p string) {
	if v.plain(at, p) && (!strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~/") || strings.Contains(p+"/", "/../")) {
		v.bad(at, fmt.Sprintf("%s: '%s' begins neither with / nor with ~/, or leads up", at, p), "")
	}
}
