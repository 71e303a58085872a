package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// policyFrom are the flags that name a policy instead of spelling it out. At
// most one is given.
type policyFrom struct {
	policy string
	preset string
	agent  string

	open   bool   // for looking at it: its write paths may be yet to come
	within bool   // nothing is read outside the project, nor of a link's target there
	root   string // the project, as load was told
}

func (p *policyFrom) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.policy, "policy", "", "hold the policy of the YAML `FILE`; the other flags only narrow what it lists")
	f.StringVar(&p.preset, "preset", "", "hold a preset or profile, by its `NAME`: sandboxed, worker, trusted, READ_ONLY, ...")
	f.StringVar(&p.agent, "agent", "", "hold what the agent definition `FILE` (Markdown with front matter) and its profile allow")
	_ = cmd.MarkFlagFilename("policy", "yaml", "yml", "json")
	_ = cmd.MarkFlagFilename("agent", "md")
	_ = cmd.RegisterFlagCompletionFunc("preset", cobra.FixedCompletions(permission.Builtins(), cobra.ShellCompDirectiveNoFileComp))
}

// file is the file that the policy stands in, "" for a preset.
func (p *policyFrom) file() string { return p.policy + p.agent }

// flag is the one that names it.
func (p *policyFrom) flag() string {
	if p.agent != "" {
		return "--agent"
	}
	return "--policy"
}

// base is the directory that the names of its documents start at.
func (p *policyFrom) base() string {
	find := locate
	if p.within {
		find = locateWithin
	}
	_, _, base := find(p.root, p.file())
	return base
}

// given refuses more than one.
func (p *policyFrom) given() (bool, error) {
	n := 0
	for _, v := range []string{p.policy, p.preset, p.agent} {
		if v != "" {
			n++
		}
	}
	if n > 1 {
		return false, usageError(errors.New("--policy, --preset and --agent name one policy each: give one of them"), "")
	}
	return n == 1, nil
}

// load compiles the policy. caller is what the other flags say. The problems
// are what is worth a word though the policy stands.
func (p *policyFrom) load(root string, caller *permission.Document) (*permission.Policy, []permission.Problem, error) {
	p.root = root
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, nil, err
	}
	opt := permission.Options{Root: filepath.ToSlash(abs), Caller: caller, Open: p.open}
	switch {
	case p.preset != "":
		policy, err := permission.Preset(p.preset, opt)
		return policy, nil, err
	}
	dir, name, _ := locate(root, p.file())
	var fsys fs.FS = givenFS{p.flag(), dir}
	if p.within {
		dir, name, _ = locateWithin(root, p.file())
		project, err := openProject(dir)
		if err != nil {
			return nil, nil, fileError(p.file(), err)
		}
		defer project.close()
		fsys = project
	}
	if p.policy != "" {
		policy, err := permission.Load(fsys, name, opt)
		return policy, nil, fileError(p.policy, err)
	}
	opt.FS = fsys
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, nil, fileError(p.agent, err)
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
func (p *policyFlags) hold(cfg pathresolver.Config) (pathresolver.Config, error) {
	if given, err := p.named.given(); !given {
		return cfg, err
	}
	if len(p.unprotect) > 0 {
		return cfg, usageError(errors.New("--unprotect widens, and flags only narrow a policy"), "")
	}
	policy, found, err := p.named.load(p.root, callerOf(cfg))
	if err != nil {
		return cfg, usageError(err, "")
	}
	if err := p.refuseUnlisted(policy); err != nil {
		return cfg, err
	}
	if _, lists := policy.WriteList(); lists && cfg.Git && len(cfg.WritePaths) == 0 {
		// --git alone asks for .git, which is listed, and not for it alone.
		cfg.Git = false
		if policy, found, err = p.named.load(p.root, callerOf(cfg)); err != nil {
			return cfg, usageError(err, "")
		}
	}
	held, err := policy.Resolver(cfg.Root)
	if err != nil {
		return cfg, usageError(err, "")
	}
	if held.NoView {
		return cfg, usageError(fmt.Errorf("policy '%s' is the operator's own rights: there is nothing to hold", policy.Name()), "'pinfold run --no-sandbox' runs a command without a view; the widest that is held is --preset trusted")
	}
	held.NameFiles(p.named.placedFile)
	p.held, p.found, p.at = policy, found, held.Positions
	cfg.WritePaths, cfg.Git = held.Config.WritePaths, held.Config.Git
	cfg.Hide, cfg.ReadPaths = held.Config.Hide, held.Config.ReadPaths
	cfg.AskRead, cfg.AskWrite = held.Config.AskRead, held.Config.AskWrite
	cfg.Unprotect = held.Config.Unprotect
	cfg.Protect = slices.Concat(held.Config.Protect, cfg.Protect)
	cfg.Origins = held.Config.Origins
	for _, src := range policy.Sources() {
		if p.named.file() != "" && !strings.HasPrefix(src.File, "preset:") && src.File != callerLayer {
			cfg.Protect = append(cfg.Protect, protectList(cfg.Root, filepath.Join(p.named.base(), filepath.FromSlash(src.File)))...)
		}
	}
	return cfg, nil
}

// callerOf is what the flags say, as a document. nil: they say nothing.
func callerOf(cfg pathresolver.Config) *permission.Document {
	files := permission.FS{Hide: cfg.Hide, Protect: cfg.Protect}
	for _, wp := range cfg.WritePaths {
		files.Write = append(files.Write, filepath.ToSlash(wp))
	}
	if cfg.Git {
		files.Write = append(files.Write, ".git")
	}
	return &permission.Document{FS: &files}
}
