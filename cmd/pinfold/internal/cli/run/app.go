package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/launchprofile"
	"github.com/pinfold-dev/pinfold/internal/hostpath"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewAgents are the commands that start an agent by its name: each is `run --app NAME`.
func NewAgents(a *cli.App) []*cobra.Command {
	var list []*cobra.Command
	for _, name := range launchprofile.Builtins() {
		f := &runFlags{app: name}
		cmd := newRun(a, f, &cobra.Command{
			Use:   name + " [flags] [-- ARG...]",
			Short: "Run " + name + " in the project at DIR, which it may write",
			Long: fmt.Sprintf(`%s starts the agent %[1]s as 'pinfold run --app %[1]s' does, with the flags of run.
What belongs to %[1]s itself stands after --. It may write the project, but not
git's configuration and hooks and what other programs run by themselves; it does
not see files called .env; it has a home of its own that is kept, and your network.
-w, --policy and the other flags narrow that; --dry-run shows all of it.`, name),
			Example: fmt.Sprintf("  pinfold %s\n  pinfold %[1]s -w src -- --help\n  pinfold %[1]s --dry-run", name),
		})
		cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
			if like := cli.LikeFlag(cmd, err); like != cli.SeeHelp(cmd) {
				return cli.UsageError(err, like)
			}
			return cli.UsageError(err, fmt.Sprintf("flags of %s itself stand after --: pinfold %[1]s -- ...; see 'pinfold %[1]s --help' for pinfold's", name))
		})
		list = append(list, cmd)
	}
	return list
}

// hostOf is the machine, as far as an installation is looked for on it by a run in the
// project at root.
func hostOf(o *cli.Output, root string) launchprofile.Host {
	home, _ := os.UserHomeDir()
	if !filepath.IsAbs(home) {
		home = ""
	}
	h := launchprofile.Host{Path: os.Getenv("PATH"), Home: home, System: launcher.System, Unsafe: hostfile.Written(o)}
	if real, _, err := hostpath.Place(root); err == nil {
		h.Unsafe = append(h.Unsafe, real)
	}
	return h
}

// useProfile turns the profile of --app into flags, beside those that were given, and
// returns the command. Write paths and --git are the profile's only where neither flags
// nor a policy name any. Without --app nothing changes.
func (f *runFlags) useProfile(flags *pflag.FlagSet, o *cli.Output, args []string) (command []string, err error) {
	if f.app == "" {
		return args, nil
	}
	p, err := launchprofile.Load(f.app, hostfile.Written(o))
	if err != nil {
		return nil, cli.UsageError(err, "'pinfold app list' shows the apps that there are")
	}
	if f.noSandbox {
		// Its own sandbox stays on, then.
		return append([]string{p.Program}, args...), nil
	}
	if f.user != "" && f.home == "" {
		return nil, cli.UsageError(errors.New("--app keeps a home for you, not for the user of --user"), "name a directory of that user's by --home")
	}
	root, err := filepath.Abs(f.Root)
	if err != nil {
		return nil, err
	}
	host := hostOf(o, root)
	f.found, err = launchprofile.Find(host, p.Program, p.LookIn, p.Layouts)
	if launchprofile.NotFound(err) {
		o.Error(fmt.Sprintf("%s: %v", p.Program, err))
		if install := p.Install(); install != "" {
			o.Hint(install)
		}
		return nil, cli.Silent(cli.ExitNotFound)
	}
	if err != nil {
		return nil, err
	}
	f.profile = p
	if args, err = f.ownSandbox(o, p, args); err != nil {
		return nil, err
	}
	var add []setting
	named, err := f.Named.Given()
	if err != nil {
		return nil, err
	}
	if !named && !flags.Changed("write-path") && !flags.Changed("write-paths-from") {
		for _, path := range p.Write {
			add = append(add, setting{"write-path", path})
		}
	}
	if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil && p.Git && !named && !flags.Changed("git") {
		add = append(add, setting{"git", "true"})
	}
	if f.authorWanted() && !flags.Changed("git-author") {
		add = append(add, setting{"git-author", "true"})
	}
	for _, glob := range p.Hide {
		add = append(add, setting{"hide", glob})
	}
	for _, path := range slices.Concat(f.found.Show, host.Existing(p.Show)) {
		add = append(add, setting{"ro", path})
	}
	if f.home == "" {
		home, err := p.KeptHome()
		if err != nil {
			return nil, err
		}
		add = append(add, setting{"home", home})
	}
	given := map[string]bool{}
	for _, kv := range f.env {
		key, _, _ := strings.Cut(kv, "=")
		given[key] = true
	}
	for _, kv := range p.Variables(os.LookupEnv, f.user == "" && os.Geteuid() == 0) {
		if key, _, _ := strings.Cut(kv, "="); !given[key] {
			add = append(add, setting{"env", kv})
		}
	}
	if err := f.reach.ofProfile(flags, p.Hosts, named); err != nil {
		return nil, fmt.Errorf("app '%s': %w", p.Name, err)
	}
	for _, s := range add {
		if err := flags.Set(s.flag, s.value); err != nil {
			return nil, fmt.Errorf("app '%s': --%s: %w", p.Name, s.flag, err)
		}
	}
	for _, flag := range p.Args {
		if strings.HasPrefix(flag, "--") && slices.ContainsFunc(args, func(arg string) bool { return arg == flag || strings.HasPrefix(arg, flag+"=") }) {
			o.Hint(fmt.Sprintf("your %s takes the place of pinfold's: 'pinfold app show %s' has what that says", flag, p.Name))
		}
	}
	f.args = args
	if asksVersion(args) {
		return slices.Concat([]string{f.found.Program}, args), nil
	}
	return slices.Concat([]string{f.found.Program}, p.Args, args), nil
}

// asksVersion reports whether an agent is only asked for its version, which no model
// hears of. Alone on its line that takes Claude Code 20 ms, and otherwise 200.
func asksVersion(args []string) bool {
	return len(args) == 1 && slices.Contains([]string{"--version", "-v", "-V"}, args[0])
}

// ownSandbox is args, the user's own, without what would have the agent make a sandbox
// of its own inside.
func (f *runFlags) ownSandbox(o *cli.Output, p *launchprofile.Profile, args []string) ([]string, error) {
	if f.nested {
		return args, nil
	}
	own, changed, err := p.WithoutOwnSandbox(args)
	if err != nil {
		return nil, cli.UsageError(err, "leave it out: the run is the boundary, and -w, --preset READ_ONLY and --net none narrow it")
	}
	for _, words := range changed {
		o.Warning(fmt.Sprintf("%s cannot make a sandbox of its own inside: instead of '%s' the run is the boundary, also of the network", p.Program, words))
	}
	return own, nil
}

// tellModel adds to command what tells a model the rules of this run, and connects
// pinfold's server to it: arguments before the user's, and variables.
func (f *runFlags) tellModel(flags *pflag.FlagSet, o *cli.Output, asks bool, command []string) ([]string, error) {
	if f.profile == nil {
		if f.mcp {
			return nil, cli.UsageError(errors.New("--mcp is for an agent that is started by its name"), "pinfold claude --mcp, or run --app NAME --mcp")
		}
		return command, nil
	}
	if asksVersion(f.args) {
		return command, nil
	}
	if !flags.Changed("mcp") {
		f.mcp = asks && f.profile.Connects()
	}
	if f.mcp && !f.profile.Connects() {
		return nil, cli.UsageError(fmt.Errorf("the profile of '%s' does not say how a server is connected", f.profile.Name), "mcp_args, mcp_set or mcp_home in its file do")
	}
	tell, args, env, told := f.profile.Telling(f.told(), f.args)
	if !told {
		o.Warning(fmt.Sprintf("%s is not told of its limits, since your arguments take that place: name %s to it", f.profile.Program, inside.RulesFile))
	}
	for _, kv := range env {
		if err := flags.Set("env", kv); err != nil {
			return nil, err
		}
	}
	own := command[:len(command)-len(f.args)]
	return slices.Concat(own, tell, args), nil
}

// told is what this run has for a model.
func (f *runFlags) told() launchprofile.Told {
	return launchprofile.Told{File: inside.RulesFile, Text: f.rules, MCP: f.mcp}
}

// makeKeptHome makes the home that a profile keeps, for this user alone, and in it what
// tells a model the rules. A home that was named is not made.
func (f *runFlags) makeKeptHome(o *cli.Output) error {
	if f.profile == nil {
		return nil
	}
	// Before the launcher looks at it: nothing is made where an agent's link leads.
	if err := hostfile.Refuse("--home", f.home); err != nil {
		return err
	}
	if kept, err := f.profile.KeptHome(); err == nil && kept == f.home {
		if err := os.MkdirAll(f.home, 0o700); err != nil {
			return err
		}
	}
	home, err := hostfile.Real("--home", f.home)
	if err != nil {
		return err
	}
	if err := f.profile.TellIn(home, f.told()); err != nil {
		o.Warning(fmt.Sprintf("%s is not told of its limits: %v", f.profile.Program, err))
	}
	return nil
}

// warnNoNetwork says that an agent will not reach its model, before it hangs on that.
func (f *runFlags) warnNoNetwork(o *cli.Output) {
	if f.profile == nil {
		return
	}
	if lacks := f.reach.lacks(); len(lacks) > 0 && !f.NoNetwork() {
		o.Warning(fmt.Sprintf("policy '%s' does not allow all hosts that %s needs: it lacks %s", f.Held.Name(), f.profile.Program, listed(lacks)))
		return
	}
	if !f.NoNetwork() {
		return
	}
	if f.reach.net == netNone {
		o.Warning("--net none takes the network away, and " + f.profile.Program + " needs it to reach its model")
		return
	}
	o.Warning(fmt.Sprintf("policy '%s' takes the network away, and %s needs it to reach its model", f.Held.Name(), f.profile.Program))
	o.Hint("the preset WRITE leaves the network on, as do policies that extend it")
}

// tellProfile says in one line what an agent may do, and in another what is not known
// of its version.
func (f *runFlags) tellProfile(o *cli.Output, r *pathresolver.Resolver) {
	p := f.profile
	if p == nil {
		return
	}
	writes := "writes nothing"
	if paths := r.WritePaths(); len(paths) > 0 {
		writes = "writes " + listed(paths) + " (not git's and programs' own settings there)"
	}
	parts := []string{writes}
	if len(f.Hide) > 0 {
		parts = append(parts, "does not see "+listed(f.Hide))
	}
	if len(f.Mask) > 0 {
		parts = append(parts, "sees stand-ins for the values in "+listed(f.Mask))
	}
	parts = append(parts, "keeps its home in "+short(f.home), "has "+f.network())
	o.Stderr.Printf("pinfold: %s %s\n", strings.TrimSpace(p.Program+" "+pathresolver.EscapePath(f.found.Version)), pathresolver.EscapePath(strings.Join(parts, ", ")))
	if v := f.found.Version; v != "" && !p.Known(v) {
		o.Hint(fmt.Sprintf("%s %s was not tried with this pinfold, %s was; if it fails, compare with --no-sandbox", p.Program, v, strings.Join(p.Tested, ", ")))
	}
}

func (f *runFlags) network() string {
	if f.NoNetwork() {
		return "no network"
	}
	return f.reach.told()
}

// listed is a few words of a list.
func listed(words []string) string {
	const most = 4
	if len(words) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:most], " "), len(words)-most)
	}
	return strings.Join(words, " ")
}

// short is a path with ~ for the home.
func short(path string) string {
	home, err := os.UserHomeDir()
	if rest, in := hostpath.Beneath(path, home); err == nil && in && filepath.IsAbs(home) && rest != "." {
		return "~/" + rest
	}
	return path
}

// printDry prints the line of `run` that the flags stand for, and as a shell's comments
// what it would see, write and reach.
func (f *runFlags) printDry(flags *pflag.FlagSet, o *cli.Output, cfg pathresolver.Config, r *pathresolver.Resolver, command []string) {
	line := []string{"pinfold", "run"}
	flags.Visit(func(flag *pflag.Flag) {
		if slices.Contains([]string{"app", "mcp", "dry-run", "no-project"}, flag.Name) {
			return
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			switch {
			case flag.NoOptDefVal != "" && value == flag.NoOptDefVal:
				line = append(line, "--"+flag.Name)
			case flag.NoOptDefVal != "":
				line = append(line, "--"+flag.Name+"="+value)
			default:
				line = append(line, "--"+flag.Name, value)
			}
		}
	})
	if f.project != nil || f.noProject {
		line = append(line, "--no-project") // what was taken of its file stands here
	}
	o.Stdout.Printf("%s\n", pathresolver.EscapePath(cli.ShellLine(append(append(line, "--"), command...))))
	say := func(what string, words []string) {
		if len(words) > 0 {
			o.Stdout.Printf("# %-9s %s\n", what, pathresolver.EscapePath(strings.Join(words, "  ")))
		}
	}
	reads := []string{r.Root()}
	if paths := r.ReadPaths(); len(paths) > 0 {
		reads[0] += ", of it: " + strings.Join(paths, "  ")
	}
	if f.project != nil {
		is := ", not trusted: what it would open is not taken"
		if f.trusted {
			is = ", trusted"
		}
		say("project", []string{f.project.Name + is})
	}
	say("reads", append(append(reads, f.ro...), "system directories", "processors and packages of the machine"))
	writes := r.WritePaths()
	if len(writes) == 0 {
		writes = []string{"nothing"}
	}
	say("writes", writes)
	say("asks", slices.Concat(cfg.AskRead, cfg.AskWrite))
	say("hides", cfg.Hide)
	say("masks", cfg.Mask)
	home := "private and empty"
	if f.home != "" {
		home = f.home + ", kept"
	}
	say("home", []string{home})
	for _, plan := range f.planned {
		for _, part := range plan.Parts {
			of := "yours, beneath a private layer"
			if part.Own {
				of = "a private layer alone"
			}
			say("cache", []string{plan.Cache.Name + ": " + part.Path + ", " + of})
		}
	}
	if f.reach.after != nil {
		say("closes", []string{"the network for good before the first use of:", strings.Join(f.reach.afterRead, "  ")})
	}
	for _, line := range f.otherPrograms(o, r, command) {
		say("program", []string{line})
	}
	var names []string
	for _, kv := range f.env {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	say("variables", names)
	say("secrets", f.secrets.names())
	say("sockets", f.sockets.names())
	say("devices", f.devices)
	reaches := []string{f.network()}
	if f.profile != nil && !f.NoNetwork() && f.reach.net != netAllow && len(f.profile.Hosts) > 0 {
		reaches[0] += ", of which it needs " + strings.Join(f.profile.Hosts, " ")
	}
	say("reaches", reaches)
}
