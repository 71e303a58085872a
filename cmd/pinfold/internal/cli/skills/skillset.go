package skills

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/skillask"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/state"
	"github.com/pinfold-dev/pinfold/fileskills"
	"github.com/pinfold-dev/pinfold/internal/didyoumean"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// skillFlags are the flags of the commands that offer skills.
type skillFlags struct {
	policyflag.Flags
	enable   []string
	guard    string
	stateDir string
	journals string // the directory that set found for them; "" for none
	noSync   bool

	// narrow is a gate around the others, where a command has one.
	narrow func(fileskills.Gate) fileskills.Gate

	// Who is asked: the manager of the agent that this process is, if it is one, and
	// the person in front of the client, if wanted. Without both, nobody.
	agent  *ownAgent
	person bool
	nobody bool     // not the manager either: what would have to be asked for is refused
	also   []string // places that are protected too, whoever's policy it is
	// Once set was called: call calls a skill of the set, and asks; cfg is what it
	// holds, and by who judges what it asks.
	cfg  pathresolver.Config
	by   callJudge
	call func(context.Context, string, json.RawMessage) (*fileskills.Result, error)
}

// saysWhat reports whether the flags say anything of what may be done.
func (f *skillFlags) saysWhat() bool {
	return f.Named.Preset != "" || f.Named.Policy != "" || f.Named.Agent != "" || f.Named.Role != "" || f.Git || f.ListFrom != "" || len(f.WritePaths)+len(f.Hide)+len(f.Mask)+len(f.Protect)+len(f.Unprotect) > 0
}

func (f *skillFlags) addAll(cmd *cobra.Command) {
	f.Add(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.enable, "enable", nil, "offer a skill that is off otherwise, by `NAME`: delete_file, apply_patch (repeatable)")
	flags.StringVar(&f.guard, "guard", "changed", "refuse to replace a file that somebody else has changed since it was read (changed), or to change one that was not read (require): `changed|off|warn|require`")
	flags.StringVar(&f.stateDir, "state-dir", "", "the directory `PATH`, outside DIR, where apply_patch keeps its journal (default: beneath the user's state directory)")
	flags.BoolVar(&f.noSync, "no-sync", false, "do not wait until a change is on the disk: faster, and lost if the power fails")
	_ = cmd.MarkFlagDirname("state-dir")
	_ = cmd.RegisterFlagCompletionFunc("enable", cobra.FixedCompletions([]string{"delete_file", "apply_patch"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("guard", cobra.FixedCompletions([]string{"changed", "off", "warn", "require"}, cobra.ShellCompDirectiveNoFileComp))
}

// guards are the words that --guard takes.
var guards = map[string]fileskills.Guard{
	"changed": fileskills.GuardChanged,
	"off":     fileskills.GuardOff,
	"warn":    fileskills.GuardWarn,
	"require": fileskills.GuardRequire,
}

// set makes the skills that the flags describe. The resolver is the caller's
// to close.
func (f *skillFlags) set(stdin io.Reader, o *cli.Output) (*fileskills.Set, *pathresolver.Resolver, error) {
	guard, ok := guards[f.guard]
	if !ok {
		return nil, nil, cli.UsageError(cli.UnknownWord("guard", f.guard, "changed", "off", "warn", "require"), "")
	}
	cfg, err := f.config(stdin)
	if err != nil {
		return nil, nil, err
	}
	own := f.agent != nil && !f.saysWhat()
	if own {
		links, broad := cfg.HardLinks, cfg.AllowBroadRoot
		if cfg, err = f.agent.hold(&f.Flags, cfg); err != nil {
			return nil, nil, err
		}
		cfg.HardLinks, cfg.AllowBroadRoot = links, broad
	}
	cfg.Protect = append(cfg.Protect[:len(cfg.Protect):len(cfg.Protect)], f.also...)
	if f.journals, err = f.state(); err != nil {
		return nil, nil, err
	}
	cfg, r, err := policyflag.Open(cfg, o)
	if err != nil {
		return nil, nil, err
	}
	skills := fileskills.Config{Resolver: r, Enable: f.enable, Guard: guard, StateDir: f.journals, NoSync: f.noSync}
	if f.Held != nil {
		skills.Timeout = f.timeout
		skills.Gate = skillask.PolicyGate{Policy: f.Held, From: &f.Named}
	}
	asks := f.agent != nil || f.person
	// Inside of a run the view refuses what was approved for once outside.
	elsewhere := own && f.narrow == nil && !f.nobody && inside.Run()
	by := callJudge{policy: f.Held, named: &f.Named, agent: f.agent, person: f.person, nobody: f.nobody}
	if own {
		by.policy = nil // the broker has it, and what was granted since
	}
	if asks {
		skills.Asked = len(cfg.AskWrite) > 0 && !f.nobody
		skills.Gate = skillask.JudgedGate{Judge: by, Same: own}
		skills.GateGrants = !elsewhere
	}
	if f.narrow != nil {
		skills.Gate = f.narrow(skills.Gate)
	}
	set, err := fileskills.New(skills)
	if err != nil {
		_ = r.Close() // holds descriptors, nothing to lose
		var system *fs.PathError
		if errors.As(err, &system) { // only the state directory is a file's matter
			return nil, nil, stateError(err)
		}
		return nil, nil, cli.UsageError(err, f.enableHint())
	}
	f.call, f.cfg, f.by = set.Call, cfg, by
	if asks {
		asked := &skillask.Skills{Set: set, Judge: by}
		if elsewhere {
			asked.Elsewhere = f.agent.callSkill
		}
		f.call = asked.Call
	}
	return set, r, nil
}

// ofRun reports whether it is the run around this process whose rules are meant: no
// flag says anything, not even a directory.
func (f *skillFlags) ofRun() bool { return f.Root == "" && !f.saysWhat() && inside.Run() }

// config is what the flags describe, or else what the run around this process holds.
func (f *skillFlags) config(stdin io.Reader) (pathresolver.Config, error) {
	if f.agent != nil || !f.ofRun() {
		return f.Config(stdin)
	}
	cfg, git, _, err := inside.Policy()
	git.Close() // no skill works there
	return cfg, err
}

// timeout is what the policy gives a skill.
func (f *skillFlags) timeout(skill string) time.Duration {
	d := f.Held.Check(context.Background(), access.Request{Action: access.ToolUse, Resource: skill})
	return time.Duration(d.Timeout) * time.Second
}

// enableHint is about a name given to --enable that no skill has.
func (f *skillFlags) enableHint() string {
	for _, name := range f.enable {
		if fileskills.Canonical(name) != name {
			return didyoumean.Hint(name, []string{"delete_file", "apply_patch"})
		}
	}
	return ""
}

// state is the directory for journals, which the skills make if it is missing.
// It is "" where nothing would be kept in it.
func (f *skillFlags) state() (string, error) {
	if !slices.Contains(f.enable, "apply_patch") {
		return "", nil
	}
	dir := f.stateDir
	if dir == "" {
		base, err := state.Base()
		if err != nil {
			return "", &cli.ExitError{Code: cli.ExitFailed, Err: err, Hint: "name a directory by --state-dir"}
		}
		dir = filepath.Join(base, "pinfold")
	}
	if err := hostfile.Refuse("--state-dir", dir); err != nil {
		return "", err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", stateError(err)
	}
	return dir, nil
}

func stateError(err error) error {
	return &cli.ExitError{Code: cli.ExitFailed, Err: err, Hint: "name a directory that can be written by --state-dir"}
}
