package run

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/projectfile"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// takeProject turns the part run of the project's .pinfold.yaml into flags, beside those
// that were given. Without trust only what narrows is taken. A file that cannot be read
// is an error: nobody could say what it hides.
func (f *runFlags) takeProject(flags *pflag.FlagSet, o *cli.Output) error {
	if f.noProject || f.noSandbox {
		return nil
	}
	file, err := projectfile.Read(f.Root)
	if err != nil {
		return cli.UsageError(fmt.Errorf("what the project's file says of runs is not known: %w", err), "'pinfold check' says what is wrong with it; --no-project does without")
	}
	if file == nil || file.Project.Run == nil {
		return nil
	}
	state, err := file.State()
	if err != nil {
		o.Warning(err.Error())
	}
	f.project, f.trusted = file, state == projectfile.Agreed
	named, err := f.Named.Given()
	if err != nil {
		return err
	}
	stands, left, err := f.TakeProject(flags, file.Project.Run, f.trusted)
	if err != nil {
		return err
	}
	if flags.Changed("home") {
		stands.Home = ""
	}
	f.ofProject = stands
	add, more := f.ofHost(flags, file.Project.Run)
	net, open := f.ofNetwork(flags, file.Project.Run, named)
	for _, s := range append(add, net...) {
		err = errors.Join(err, flags.Set(s.flag, s.value))
	}
	more = append(more, open...)
	if err == nil {
		err = f.reach.check()
	}
	if err != nil {
		return err
	}
	policyflag.WarnUntrusted(o, file, f.Root, state, slices.Concat(left, more))
	return nil
}

// setting is a flag that is set for the user.
type setting struct{ flag, value string }

// projectKeys are the keys of a project's file that are not called as their flags are.
var projectKeys = map[string]string{"secret": "secrets", "secret-file": "secret_files", "socket": "sockets", "device": "devices", "pids": "limits.pids"}

// ofHost are the flags that only run has, of a project's file, and the keys of those
// that are not taken without trust. A path that is not there and a variable that is not
// set are left out: the file is of everybody who works in the project.
func (f *runFlags) ofHost(flags *pflag.FlagSet, run *policies.ProjectRun) (add []setting, left []string) {
	if l := run.Limits; l != nil {
		bound := func(flag, value string, older ...string) {
			if value != "" && !slices.ContainsFunc(append(older, flag), flags.Changed) {
				add = append(add, setting{flag, value})
			}
		}
		bound("time", l.Time)
		bound("memory", l.Memory)
		if l.PIDs > 0 && l.PIDs <= policies.LeastPIDs {
			bound("pids", strconv.Itoa(l.PIDs), "max-tasks")
		}
		if l.CPU > 0 {
			bound("cpu", strconv.FormatFloat(l.CPU, 'f', -1, 64))
		}
	}
	var wide []setting
	if l := run.Limits; l != nil && l.PIDs > policies.LeastPIDs && !flags.Changed("pids") && !flags.Changed("max-tasks") {
		wide = append(wide, setting{"pids", strconv.Itoa(l.PIDs)})
	}
	given := map[string]bool{}
	for _, kv := range f.env {
		key, _, _ := strings.Cut(kv, "=")
		given[key] = true
	}
	if run.Git != nil && *run.Git && f.trusted && f.authorWanted() && !flags.Changed("git-author") {
		wide = append(wide, setting{"git-author", "true"})
	}
	for _, path := range run.RO {
		if path = projectfile.Expand(path); exists(path) {
			wide = append(wide, setting{"ro", path})
		}
	}
	if run.Home != "" && !flags.Changed("home") {
		if path := projectfile.Expand(run.Home); path != "" {
			wide = append(wide, setting{"home", path})
		}
	}
	for _, name := range run.Cache {
		if f.user == "" {
			wide = append(wide, setting{"cache", name})
		}
	}
	for _, name := range run.Env {
		if _, set := os.LookupEnv(name); set && !given[name] {
			wide = append(wide, setting{"env", name})
		}
	}
	wide = append(wide, secretsOf("secret", run.Secrets, f.secrets.variables)...)
	wide = append(wide, secretsOf("secret-file", run.SecretFiles, f.secrets.files)...)
	for _, entry := range run.Sockets {
		at, rest, _ := strings.Cut(entry, ":")
		if strings.Contains(at, "/") {
			entry = strings.TrimSuffix(projectfile.Expand(at)+":"+rest, ":")
		}
		if socketThere(entry) && !slices.Contains(f.sockets.given, entry) {
			wide = append(wide, setting{"socket", entry})
		}
	}
	for _, path := range run.Devices {
		if exists(path) {
			wide = append(wide, setting{"device", path})
		}
	}
	if f.trusted {
		return append(add, wide...), nil
	}
	for _, s := range wide {
		key := cmp.Or(projectKeys[s.flag], s.flag)
		if !slices.Contains(left, key) {
			left = append(left, key)
		}
	}
	return add, left
}

// secretsOf are the secrets of a project's file whose own files are there, but for names
// that a flag gives already.
func secretsOf(flag string, list, given []string) (add []setting) {
	for _, entry := range list {
		name, file, _ := strings.Cut(entry, "=")
		named := slices.ContainsFunc(given, func(g string) bool { return strings.HasPrefix(g, name+"=") })
		if file = projectfile.Expand(file); !named && exists(file) {
			add = append(add, setting{flag, name + "=" + file})
		}
	}
	return add
}

// ofNetwork is what a project's file says of the network, as ofHost: none, or no hosts but
// those that it lists, in any case, and these with trust. Hosts or --net that were typed, or
// a policy that was named, stand in the place of the file's hosts.
func (f *runFlags) ofNetwork(flags *pflag.FlagSet, run *policies.ProjectRun, named bool) (add []setting, left []string) {
	f.ofProject.AllowHost = nil
	net := string(run.Net)
	if net == "" && run.AllowHost != nil {
		net = netAllow
	}
	switch {
	case net == "" || flags.Changed("net") && f.reach.net != netAllow || f.reach.net == netAllow && len(f.reach.hosts) > 0 || named && net != netNone:
		return nil, nil
	case !flags.Changed("net"):
		add = append(add, setting{"net", net})
	}
	switch {
	case net == netNone || len(run.AllowHost) == 0:
	case !f.trusted:
		left = append(left, "allow_host")
	default:
		f.ofProject.AllowHost = run.AllowHost
		for _, host := range run.AllowHost {
			add = append(add, setting{"allow-host", host})
		}
	}
	return add, left
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return path != "" && err == nil
}

// tellProject says in one line what a trusted file opens, without what flags stand in the
// place of.
func (f *runFlags) tellProject(o *cli.Output) {
	if !f.trusted {
		return // of what was not taken a warning has told
	}
	if wide := projectfile.Widens(&f.ofProject); len(wide) > 0 {
		o.Stderr.Printf("pinfold: %s, which you trust: %s\n", pathresolver.EscapePath(f.project.Name), pathresolver.EscapePath(strings.Join(wide, "; ")))
	}
}
