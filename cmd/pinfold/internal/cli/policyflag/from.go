package policyflag

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/internal/policies"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// From are the flags that name a policy instead of spelling it out. At
// most one is given.
type From struct {
	Policy string
	Preset string
	Agent  string // a file, or the name of an agent type
	Role   string // beside Policy, or alone

	Open   bool   // for looking at it: its write paths may be yet to come
	Within bool   // nothing is read outside the project, nor of a link's target there
	root   string // the project, as load was told
}

// Add gives cmd the flags.
func (p *From) Add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.Policy, "policy", "", "hold the policy of the YAML `FILE`; the other flags only narrow what it lists")
	f.StringVar(&p.Preset, "preset", "", "hold a preset or profile, by its `NAME`: sandboxed, worker, trusted, READ_ONLY, ...")
	f.StringVar(&p.Agent, "agent", "", "hold what the agent definition `FILE` (Markdown with front matter) and its profile allow, or by its name an agent type, such as code-reviewer")
	f.StringVar(&p.Role, "role", "", "hold the profile of the launch role or agent type `NAME`, such as verify; beside --policy what its roles say, within it")
	_ = cmd.MarkFlagFilename("policy", "yaml", "yml", "json")
	_ = cmd.MarkFlagFilename("agent", "md")
	_ = cmd.RegisterFlagCompletionFunc("role", cobra.FixedCompletions([]string{"intake", "plan", "verify", "notify"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("preset", cobra.FixedCompletions(permission.Builtins(), cobra.ShellCompDirectiveNoFileComp))
}

// File is the file that the policy stands in, "" for a preset, a role, or an agent type.
func (p *From) File() string {
	if _, is := p.agentType(); is {
		return p.Policy
	}
	return p.Policy + p.Agent
}

// agentType is the definition of an agent that --agent gives by its name alone. What has
// no dot and no slash is always a name: a file that an agent has left in the project under
// such a name must not stand in for it.
func (p *From) agentType() (text *brokerhttp.Text, is bool) {
	if p.Agent == "" || strings.ContainsAny(p.Agent, `./\`) {
		return nil, false
	}
	return &brokerhttp.Text{Name: "preset:" + p.Agent, Text: "---\nname: " + p.Agent + "\n---\n"}, true
}

// flag is the one that names it.
func (p *From) flag() string {
	if p.Agent != "" {
		return "--agent"
	}
	return "--policy"
}

// base is the directory that the names of its documents start at.
func (p *From) base() string {
	find := hostfile.Locate
	if p.Within {
		find = hostfile.LocateWithin
	}
	_, _, base := find(p.root, p.File())
	return base
}

// Given refuses more than one.
func (p *From) Given() (bool, error) {
	n := 0
	for _, v := range []string{p.Policy, p.Preset, p.Agent} {
		if v != "" {
			n++
		}
	}
	if p.Role != "" {
		if p.Preset != "" || p.Agent != "" {
			return false, cli.UsageError(errors.New("--role says which profile is held, and --preset and --agent do: give one of them"), "--role stands alone, or beside --policy")
		}
		n = 1
	}
	if n > 1 {
		return false, cli.UsageError(errors.New("--policy, --preset and --agent name one policy each: give one of them"), "")
	}
	return n == 1, nil
}

// Load compiles the policy. caller is what the other flags say. The problems are
// warnings and notes about a policy that was accepted.
func (p *From) Load(root string, caller *permission.Document) (*permission.Policy, []permission.Problem, error) {
	p.root = root
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, nil, err
	}
	opt := permission.Options{Root: filepath.ToSlash(abs), Caller: caller, Open: p.Open}
	switch {
	case p.Preset != "":
		policy, err := permission.Preset(p.Preset, opt)
		return policy, nil, err
	case p.Policy == "" && p.Role != "":
		return permission.ForRole(p.Role, nil, opt)
	}
	if text, is := p.agentType(); is {
		if err := permission.CheckID(p.Agent); err != nil {
			return nil, nil, fmt.Errorf("--agent: %w", err)
		}
		agent, err := permission.ParseAgent(text.Name, []byte(text.Text))
		if err != nil {
			return nil, nil, err
		}
		return agent.Policy(opt)
	}
	dir, name, _ := hostfile.Locate(root, p.File())
	var fsys fs.FS = hostfile.FS{Flag: p.flag(), Dir: dir}
	if p.Within {
		dir, name, _ = hostfile.LocateWithin(root, p.File())
		project, err := hostfile.OpenProject(dir)
		if err != nil {
			return nil, nil, hostfile.Named(p.File(), err)
		}
		defer project.Close()
		fsys = project
	}
	if p.Policy != "" {
		policy, err := permission.Load(fsys, name, opt)
		if err != nil || p.Role == "" {
			return policy, nil, hostfile.Named(p.Policy, err)
		}
		opt.FS = fsys
		return permission.ForRole(p.Role, policy, opt)
	}
	opt.FS = fsys
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, nil, hostfile.Named(p.Agent, err)
	}
	agent, err := permission.ParseAgent(name, data)
	if err != nil {
		return nil, nil, err
	}
	return agent.Policy(opt)
}

// hold turns the configuration that the flags describe into the one that holds
// the policy that they name, if they name one. Flags fill in what the policy
// leaves to its caller, and narrow what it lists.
func (p *Flags) hold(cfg pathresolver.Config) (pathresolver.Config, error) {
	if given, err := p.Named.Given(); !given {
		return cfg, err
	}
	if len(p.Unprotect) > 0 {
		return cfg, cli.UsageError(errors.New("--unprotect widens, and flags only narrow a policy"), "")
	}
	policy, found, err := p.Named.Load(p.Root, CallerOf(cfg))
	if err != nil {
		return cfg, cli.UsageError(err, "")
	}
	if err := p.refuseUnlisted(policy); err != nil {
		return cfg, err
	}
	if _, is := policies.Of(policy).(lists).WriteList(); is && cfg.Git && len(cfg.WritePaths) == 0 {
		// --git alone asks for .git, which is listed, and not for it alone.
		cfg.Git = false
		if policy, found, err = p.Named.Load(p.Root, CallerOf(cfg)); err != nil {
			return cfg, cli.UsageError(err, "")
		}
	}
	held, err := policy.Resolver(cfg.Root)
	if err != nil {
		return cfg, cli.UsageError(err, "")
	}
	if held.NoView {
		return cfg, cli.UsageError(fmt.Errorf("policy '%s' is the operator's own rights: there is nothing to hold", policy.Name()), "'pinfold run --no-sandbox' runs a command without a view; the widest that is held is --preset trusted")
	}
	held.NameFiles(p.Named.placedFile)
	p.Held, p.Found, p.At = policy, found, held.Positions
	cfg.WritePaths, cfg.Git = held.Config.WritePaths, held.Config.Git
	cfg.Hide, cfg.Mask, cfg.ReadPaths = held.Config.Hide, held.Config.Mask, held.Config.ReadPaths
	cfg.AskRead, cfg.AskWrite = held.Config.AskRead, held.Config.AskWrite
	cfg.Unprotect = held.Config.Unprotect
	cfg.Protect = slices.Concat(held.Config.Protect, cfg.Protect)
	cfg.Origins = held.Config.Origins
	for _, src := range policy.Sources() {
		if p.Named.File() != "" && !strings.HasPrefix(src.File, "preset:") && src.File != callerLayer {
			cfg.Protect = append(cfg.Protect, ProtectList(cfg.Root, filepath.Join(p.Named.base(), filepath.FromSlash(src.File)))...)
		}
	}
	return cfg, nil
}

// CallerOf is what the flags say, as a document. nil: they say nothing.
func CallerOf(cfg pathresolver.Config) *permission.Document {
	files := permission.FS{Hide: cfg.Hide, Mask: cfg.Mask, Protect: cfg.Protect}
	for _, wp := range cfg.WritePaths {
		files.Write = append(files.Write, filepath.ToSlash(wp))
	}
	if cfg.Git {
		files.Write = append(files.Write, ".git")
	}
	return &permission.Document{FS: &files}
}

// Into reads the policy that the flags name. The broker is given its text: it
// opens no file for anybody.
func (p *From) Into(body *brokerhttp.HireBody) error {
	if _, err := p.Given(); err != nil {
		return err
	}
	body.Preset, body.Role = p.Preset, p.Role
	if text, is := p.agentType(); is {
		body.Agent = text
		return nil
	}
	file := p.File()
	if file == "" {
		return nil
	}
	data, err := hostfile.Read(p.flag(), file)
	if err != nil {
		return cli.UsageError(hostfile.Named(file, err), "")
	}
	text := &brokerhttp.Text{Name: filepath.Base(file), Text: string(data)}
	root := body.Cwd
	if root == "" { // the manager's, who hires inside a run
		root = os.Getenv("PINFOLD_ROOT")
	}
	if abs, err := filepath.Abs(file); err == nil {
		if rel, err := filepath.Rel(root, abs); root != "" && err == nil && filepath.IsLocal(rel) {
			text.Name = filepath.ToSlash(rel)
		}
	}
	if p.Agent != "" {
		body.Agent = text
	} else {
		body.Policy = text
	}
	return nil
}
