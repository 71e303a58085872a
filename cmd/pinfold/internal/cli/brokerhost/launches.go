package brokerhost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/internal/didyoumean"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// Launches are what the operator lets commands of agents have of the host: profiles,
// which an agent names and does not see into, and what it may name itself. The zero
// value is nothing. The keys of the file are the tags.
type Launches struct {
	Version  int                      `yaml:"version"` // of this format: 1
	Profiles map[string]LaunchProfile `yaml:"profiles"`
	Allow    LaunchAllowed            `yaml:"allow"`
}

// LaunchProfile is a command of the operator's, and what it gets.
type LaunchProfile struct {
	Command     []string          `yaml:"command"`     // {task} is the task in it
	AnyCommand  bool              `yaml:"any_command"` // whoever hires may name another one, which gets the same
	Stdin       bool              `yaml:"stdin"`       // the task is its standard input
	Home        string            `yaml:"home"`        // {id} is the agent's id in it
	RO          []string          `yaml:"ro"`
	Env         []string          `yaml:"env"`         // KEY=VALUE, or KEY: the broker's own
	Credentials map[string]string `yaml:"credentials"` // files whose content is the value of a variable, by its name
	GitAuthor   bool              `yaml:"git_author"`
	NoNet       bool              `yaml:"no_net"`
	MaxTasks    int               `yaml:"max_tasks"`
}

// LaunchAllowed is what an agent may name itself when it hires another one.
type LaunchAllowed struct {
	RO   []string `yaml:"ro"`   // these, and what lies beneath them
	Home []string `yaml:"home"` // directories of homes, which it names by a name in one of them
	Env  []string `yaml:"env"`  // the broker's own variables
}

// maxLaunchFile is how much of a file of profiles, or of a credential, is read.
const maxLaunchFile = 256 << 10

// ReadLaunches reads the operator's file. No agent may have written it: it says what
// agents get.
func ReadLaunches(o *cli.Output, file string) (*Launches, error) {
	real, err := hostfile.Real("--launch", file)
	if err != nil {
		return nil, err
	}
	for _, place := range hostfile.Written(o) {
		if _, in := hostpath.Beneath(real, place); in {
			return nil, fmt.Errorf("--launch '%s' lies in '%s', which a run could write: it says what agents get, so put it where none can", pathresolver.EscapePath(file), pathresolver.EscapePath(place))
		}
	}
	data, err := readSmall("--launch", file)
	if err != nil {
		return nil, err
	}
	l := &Launches{}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict(), yaml.DisallowUnknownField()).Decode(l); err != nil {
		line, message := 1, err.Error()
		var ye yaml.Error
		if errors.As(err, &ye) {
			message = ye.GetMessage()
			if t := ye.GetToken(); t != nil && t.Position != nil {
				line = t.Position.Line
			}
		}
		return nil, fmt.Errorf("%s:%d: %s", pathresolver.EscapePath(file), line, message)
	}
	if l.Version != 1 {
		return nil, fmt.Errorf("%s: version: this program reads version: 1", pathresolver.EscapePath(file))
	}
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", pathresolver.EscapePath(file), err)
	}
	return l, nil
}

// readSmall reads a file that a flag, or a file that a flag names, has named.
func readSmall(flag, file string) ([]byte, error) {
	f, err := hostfile.Open(flag, file, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // was only read
	data, err := io.ReadAll(io.LimitReader(f, maxLaunchFile+1))
	if err == nil && len(data) > maxLaunchFile {
		err = fmt.Errorf("'%s' is longer than %d bytes", pathresolver.EscapePath(file), maxLaunchFile)
	}
	return data, err
}

// Add joins what flags allow to it, and makes its paths absolute.
func (l *Launches) Add(more LaunchAllowed) error {
	l.Allow.RO = append(l.Allow.RO, more.RO...)
	l.Allow.Home = append(l.Allow.Home, more.Home...)
	l.Allow.Env = append(l.Allow.Env, more.Env...)
	for _, list := range [][]string{l.Allow.RO, l.Allow.Home} {
		for i := range list {
			abs, err := filepath.Abs(list[i])
			if err != nil {
				return err
			}
			list[i] = abs
		}
	}
	return l.check()
}

// check refuses what cannot be meant. A path of the file begins with / or ~/.
func (l *Launches) check() error {
	home, _ := os.UserHomeDir()
	place := func(key string, path *string) error {
		if rest, is := strings.CutPrefix(*path, "~/"); is && filepath.IsAbs(home) {
			*path = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(*path) {
			return fmt.Errorf("%s: '%s' begins neither with / nor with ~/", key, pathresolver.EscapePath(*path))
		}
		*path = filepath.Clean(*path)
		return nil
	}
	for i := range l.Allow.RO {
		if err := place("allow.ro", &l.Allow.RO[i]); err != nil {
			return err
		}
	}
	for i := range l.Allow.Home {
		if err := place("allow.home", &l.Allow.Home[i]); err != nil {
			return err
		}
	}
	for _, name := range l.Allow.Env {
		if err := checkVariable(name); err != nil {
			return fmt.Errorf("allow.env: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Profiles)) {
		p := l.Profiles[name]
		fail := func(err error) error { return fmt.Errorf("profiles.%s: %w", name, err) }
		if err := permission.CheckID(name); err != nil {
			return fail(err)
		}
		if len(p.Command) == 0 && !p.AnyCommand {
			return fail(errors.New("command is missing: name it, or say any_command: true"))
		}
		for i := range p.RO {
			if err := place("ro", &p.RO[i]); err != nil {
				return fail(err)
			}
		}
		if p.Home != "" {
			if err := place("home", &p.Home); err != nil {
				return fail(err)
			}
		}
		for _, kv := range p.Env {
			key, _, _ := strings.Cut(kv, "=")
			if err := checkVariable(key); err != nil {
				return fail(fmt.Errorf("env: %w", err))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(p.Credentials)) {
			file := p.Credentials[key]
			if err := checkVariable(key); err != nil {
				return fail(fmt.Errorf("credentials: %w", err))
			}
			if err := place("credentials."+key, &file); err != nil {
				return fail(err)
			}
			p.Credentials[key] = file
		}
		l.Profiles[name] = p
	}
	return nil
}

// checkVariable refuses what is no name of a variable, and pinfold's own: they say which
// agent the command is, and under which policy.
func checkVariable(name string) error {
	for i, c := range name {
		letter := c == '_' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
		if digit := '0' <= c && c <= '9'; !letter && (i == 0 || !digit) {
			return fmt.Errorf("'%s' is not the name of a variable", pathresolver.EscapePath(name))
		}
	}
	if name == "" {
		return errors.New("the name of a variable is empty")
	}
	if strings.HasPrefix(name, "PINFOLD_") {
		return fmt.Errorf("'%s' is pinfold's own", name)
	}
	return nil
}

// planned is what an agent's row keeps of how it is started. What it names is looked at
// again at each start.
type planned struct {
	brokerhttp.LaunchBody
	Operator bool `json:"operator,omitempty"` // who hired, and is not bound by what is allowed
}

// Plan implements brokerhttp.Options.Plan.
func (r *Runner) Plan(who broker.Identity, body *brokerhttp.HireBody) (string, error) {
	l := body.Launch
	if l == nil {
		return "", nil
	}
	if l.Profile != "" && len(body.Command) == 0 {
		p, err := r.Launches.profile(l.Profile)
		if err != nil {
			return "", err
		}
		if body.Command = slices.Clone(p.Command); len(body.Command) == 0 {
			return "", fmt.Errorf("launch profile '%s' names no command: give one", l.Profile)
		}
	} else if l.Profile != "" && !who.Operator() {
		p, err := r.Launches.profile(l.Profile)
		if err != nil {
			return "", err
		}
		if !p.AnyCommand {
			return "", fmt.Errorf("launch profile '%s' is for its own command: hire without one, or without the profile", l.Profile)
		}
	}
	if len(body.Command) == 0 {
		return "", errors.New("what a command gets of the host is given with a command, or with a launch profile that has one")
	}
	plan := planned{LaunchBody: *l, Operator: who.Operator()}
	id := body.ID
	if id == "" {
		id = "x" // which one it will be decides nothing
	}
	if _, err := r.Launches.grant(plan, id); err != nil {
		return "", err
	}
	text, err := json.Marshal(plan)
	return string(text), err
}

func (l *Launches) profile(name string) (LaunchProfile, error) {
	if p, known := l.Profiles[name]; known {
		return p, nil
	}
	if len(l.Profiles) == 0 {
		return LaunchProfile{}, fmt.Errorf("no launch profile '%s': 'pinfold serve --launch FILE' has them, and this one has none", pathresolver.EscapePath(name))
	}
	return LaunchProfile{}, fmt.Errorf("no launch profile '%s': %s", pathresolver.EscapePath(name), didyoumean.Hint(name, slices.Sorted(maps.Keys(l.Profiles))))
}

// granted is what a command gets of the host.
type granted struct {
	ro, env   []string
	home      string
	files     map[string]string // the credentials, by their variables
	noNet     bool
	stdin     bool
	gitAuthor bool
	maxTasks  int
	tmpSize   int64
}

// grant decides what of a plan is given, by what the operator allows now.
func (l *Launches) grant(plan planned, id string) (g granted, err error) {
	var p LaunchProfile
	if plan.Profile != "" {
		if p, err = l.profile(plan.Profile); err != nil {
			return g, err
		}
	}
	g = granted{
		ro: slices.Clone(p.RO), env: slices.Clone(p.Env), home: p.Home, files: p.Credentials,
		noNet: p.NoNet || plan.NoNet, stdin: p.Stdin || plan.Stdin, gitAuthor: p.GitAuthor, maxTasks: p.MaxTasks, tmpSize: plan.TmpSize,
	}
	if strings.Contains(g.home, "{id}") {
		if strings.HasPrefix(id, ".") { // . and .. are ids
			return g, fmt.Errorf("the id '%s' begins with a dot, and can be no name of a home", id)
		}
		g.home = strings.ReplaceAll(g.home, "{id}", id)
	}
	if plan.MaxTasks < 0 || plan.TmpSize < 0 {
		return g, errors.New("a limit is a number above 0")
	}
	if plan.MaxTasks > 0 && (g.maxTasks == 0 || plan.MaxTasks < g.maxTasks) {
		g.maxTasks = plan.MaxTasks
	}
	// A variable could have the operator's own command hand over what it was given:
	// LD_PRELOAD, NODE_OPTIONS, PATH.
	if own := plan.Profile != "" && !p.AnyCommand; own && !plan.Operator && (len(plan.Env) > 0 || plan.Home != "") {
		return g, fmt.Errorf("launch profile '%s' says what home and variables its command gets: nothing is added to them", plan.Profile)
	}
	for _, kv := range plan.Env {
		key, _, set := strings.Cut(kv, "=")
		if err := checkVariable(key); err != nil {
			return g, err
		}
		if !set && !plan.Operator && !slices.Contains(l.Allow.Env, key) {
			return g, fmt.Errorf("the broker's variable '%s' is not given to agents: the operator allows it by 'pinfold serve --allow-env %[1]s'; allowed: %s", key, listOrNothing(l.Allow.Env))
		}
		g.env = append(g.env, kv)
	}
	for _, path := range plan.RO {
		if !plan.Operator {
			if path, err = allowedPath(path, l.Allow.RO); err != nil {
				return g, err
			}
		} else if !filepath.IsAbs(path) {
			return g, fmt.Errorf("ro: '%s' is not absolute", pathresolver.EscapePath(path))
		}
		g.ro = append(g.ro, path)
	}
	switch {
	case plan.Home == "":
	case g.home != "":
		return g, fmt.Errorf("launch profile '%s' has a home: give no other", plan.Profile)
	case plan.Operator && filepath.IsAbs(plan.Home):
		g.home = plan.Home
	default:
		g.home, err = l.homeCalled(plan.Home)
	}
	return g, err
}

// allowedPath is where a path really lies that an agent has named, and refuses one that
// does not lie in one of allowed, by its name or over a link.
func allowedPath(path string, allowed []string) (string, error) {
	refused := fmt.Errorf("'%s' of the host is not shown to agents: the operator allows it by 'pinfold serve --allow-ro'; allowed: %s", pathresolver.EscapePath(path), listOrNothing(allowed))
	if !filepath.IsAbs(path) || path != filepath.Clean(path) {
		return "", refused
	}
	real, err := hostfile.RealPath(path)
	if err != nil {
		return "", refused // whether it is there is not the agent's to know
	}
	for _, place := range allowed {
		_, named := hostpath.Beneath(path, place)
		lies, err := hostfile.RealPath(place)
		if err != nil || !named {
			continue
		}
		if _, in := hostpath.Beneath(real, lies); in {
			return real, nil
		}
	}
	return "", refused
}

// homeCalled is the home of a name in the first directory of homes, or in the one that
// has it. No agent can write in such a directory itself, so none makes a link there.
func (l *Launches) homeCalled(name string) (string, error) {
	dir := ""
	if filepath.IsAbs(name) {
		dir, name = filepath.Split(filepath.Clean(name))
		dir = filepath.Clean(dir)
	}
	for _, place := range l.Allow.Home {
		if dir != "" && dir != place {
			continue
		}
		if permission.CheckID(name) != nil || strings.HasPrefix(name, ".") {
			break
		}
		return filepath.Join(place, name), nil
	}
	return "", fmt.Errorf("the home '%s' is given to no agent: the operator allows names in a directory by 'pinfold serve --allow-home'; allowed: %s", pathresolver.EscapePath(filepath.Join(dir, name)), listOrNothing(l.Allow.Home))
}

func listOrNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return pathresolver.EscapePath(strings.Join(list, ", "))
}

// values are the variables with what they are now, and those that are secret: they are
// the operator's, and nobody is told them by what a command says at its end.
func (g *granted) values(o *cli.Output) (env, secrets []string, err error) {
	o.WarnUnset(g.env)
	for _, kv := range g.env {
		key, _, set := strings.Cut(kv, "=")
		if !set {
			value, known := os.LookupEnv(key)
			if !known {
				continue
			}
			kv, secrets = key+"="+value, append(secrets, value)
		}
		env = append(env, kv)
	}
	for _, key := range slices.Sorted(maps.Keys(g.files)) {
		data, err := readSmall("credentials", g.files[key])
		if err != nil {
			return nil, nil, fmt.Errorf("the credential %s cannot be read", key) // where it lies is the operator's to know
		}
		value := strings.TrimRight(string(data), "\r\n")
		if strings.ContainsRune(value, 0) {
			return nil, nil, fmt.Errorf("the credential %s holds a NUL byte", key)
		}
		env, secrets = append(env, key+"="+value), append(secrets, value)
	}
	return env, secrets, nil
}

// credentialFiles are the files of all credentials, which no command sees.
func (l *Launches) credentialFiles() (files []string) {
	for _, p := range l.Profiles {
		files = append(files, slices.Sorted(maps.Values(p.Credentials))...)
	}
	slices.Sort(files)
	return slices.Compact(files)
}
