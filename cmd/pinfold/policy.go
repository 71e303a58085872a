package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// policyFlags are the flags that describe a policy. They mean the same to
// every command that has them.
type policyFlags struct {
	root       string
	writePaths []string
	from       string
	null       bool
	git        bool
	hide       []string
	protect    []string
	unprotect  []string
	hardLinks  string
	broad      bool

	named policyFrom
	// Of the policy that is named, once config was called: itself, what is worth
	// a word about it, and where the fields of a Config stand in it.
	held  *permission.Policy
	found []permission.Problem
	at    map[string]permission.Position
}

// add gives cmd the flags. -C is not among them: what it defaults to differs.
func (p *policyFlags) add(cmd *cobra.Command) {
	p.named.add(cmd)
	f := cmd.Flags()
	f.StringArrayVarP(&p.writePaths, "write-path", "w", nil, "let `PATH` beneath DIR be written: a directory or a file, which may not exist yet (repeatable)")
	f.StringVar(&p.from, "write-paths-from", "", "read more write paths from `FILE`, one a line")
	f.BoolVarP(&p.null, "null", "0", false, "the write paths in FILE end in NUL, not in a newline")
	f.BoolVar(&p.git, "git", false, "let the unprotected part of .git be written, so that git commit works")
	f.StringArrayVar(&p.hide, "hide", nil, "names that match `GLOB` do not exist inside (repeatable)")
	f.StringArrayVar(&p.protect, "protect", nil, "names that match `GLOB` are never writable (repeatable)")
	f.StringArrayVar(&p.unprotect, "unprotect", nil, "take `NAME` off the list of what is protected by default (repeatable)")
	f.StringVar(&p.hardLinks, "hardlinks", "deny", "writing to a file with several hard links: `deny|break|allow`")
	f.BoolVar(&p.broad, "allow-broad-root", false, "admit /, the home directory and system directories as DIR")
	_ = cmd.MarkFlagFilename("write-paths-from")
	_ = cmd.RegisterFlagCompletionFunc("hardlinks", cobra.FixedCompletions([]string{"deny", "break", "allow"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("unprotect", cobra.FixedCompletions(unprotectable(), cobra.ShellCompDirectiveNoFileComp))
}

// addRoot gives cmd the flag -C. Empty stands for the process's own directory
// only where the flag was not given (W14).
func (p *policyFlags) addRoot(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&p.root, "directory", "C", ".", "the directory `DIR` that bounds all access")
	_ = cmd.MarkFlagDirname("directory")
}

// unprotectable are the names that --unprotect takes, for completion.
func unprotectable() []string {
	words := append([]string{".git"}, pathresolver.DefaultProtected()...)
	seen := map[string]bool{}
	for _, t := range pathresolver.TrustedFiles() {
		for _, word := range []string{t.Name, t.Glob} {
			if !seen[word] {
				words = append(words, cobra.CompletionWithDesc(word, t.String()))
			}
			seen[word] = true
		}
	}
	return words
}

// config is the policy that the flags describe: the one place where flags
// become a pathresolver.Config, so that they mean the same to every command.
// stdin is what "-" stands for as a list of write paths; nil where it belongs
// to somebody else. What is wrong with the policy itself pathresolver says:
// open passes that on, and check lists it.
func (p *policyFlags) config(stdin io.Reader) (pathresolver.Config, error) {
	if err := cmp.Or(
		refuseDashes("-C", p.root), refuseDashes("--write-path", p.writePaths...), refuseDashes("--write-paths-from", p.from),
		refuseDashes("--hide", p.hide...), refuseDashes("--protect", p.protect...), refuseDashes("--unprotect", p.unprotect...),
	); err != nil {
		return pathresolver.Config{}, err
	}
	links, err := pathresolver.ParseHardLinks(p.hardLinks)
	if err != nil {
		return pathresolver.Config{}, usageError(err, "")
	}
	listed, err := p.listed(stdin)
	if err != nil {
		return pathresolver.Config{}, usageError(err, "")
	}
	cfg, err := p.hold(pathresolver.Config{
		Root:           p.root,
		WritePaths:     slices.Concat(p.writePaths, listed),
		Git:            p.git,
		Hide:           p.hide,
		Protect:        slices.Concat(p.protect, protectList(p.root, p.from)),
		Unprotect:      p.unprotect,
		HardLinks:      links,
		AllowBroadRoot: p.broad,
	})
	if err == nil && p.root != "" {
		err = protectProject(&cfg)
	}
	return cfg, err
}

// listed reads --write-paths-from: within the working directory where it lies
// there and that is asked for; what lies elsewhere only the caller chose.
func (p *policyFlags) listed(stdin io.Reader) ([]string, error) {
	if _, _, base := locateWithin(".", p.from); !p.named.within || p.from == "" || p.from == "-" || base != "." {
		return readWritePaths(p.from, p.null, stdin)
	}
	data, err := readWithin(".", p.from, maxListBytes+1)
	if err != nil {
		return nil, fmt.Errorf("write paths: %w", fileError(p.from, err))
	}
	return readWritePaths("-", p.null, bytes.NewReader(data))
}

// resolver is config and open in one, for a command that acts by one policy.
// The caller closes r.
func (p *policyFlags) resolver(stdin io.Reader, o *output) (cfg pathresolver.Config, r *pathresolver.Resolver, err error) {
	if cfg, err = p.config(stdin); err != nil {
		return cfg, nil, err
	}
	return open(cfg, o)
}

// open makes the resolver of a policy and passes on its warnings. It refuses a
// root that is named over a link which an agent may have made, and hides what
// pinfold keeps there. The caller closes r.
func open(cfg pathresolver.Config, o *output) (_ pathresolver.Config, r *pathresolver.Resolver, err error) {
	real, err := refusePlanted(cfg.Root, written(o))
	if err == nil {
		cfg, err = hidePrivate(cfg)
	}
	if err == nil {
		r, err = openWarned(cfg, o)
	}
	if err == nil && real != "" && r.Root() != real {
		_ = r.Close() // it is not used
		err = fmt.Errorf("'%s' led to '%s', and now to '%s': somebody changes it", pathresolver.EscapePath(cfg.Root), pathresolver.EscapePath(real), pathresolver.EscapePath(r.Root()))
	}
	if err != nil {
		return cfg, nil, err
	}
	return cfg, r, nil
}

func openWarned(cfg pathresolver.Config, o *output) (*pathresolver.Resolver, error) {
	r, err := pathresolver.New(cfg)
	if err != nil {
		return nil, err
	}
	warnCommas(o, cfg)
	for _, v := range r.Warnings() {
		// -w . --git is no slip: both were meant. What git runs is a hint of run's.
		if v.Code == pathresolver.CodeGitRuns {
			continue
		}
		if v.Field != "git" || v.Code != pathresolver.CodePathNested {
			o.violations([]pathresolver.Violation{v})
		}
	}
	return r, nil
}

// warnCommas warns of a write path that was meant as several: it need not exist, so
// that nothing else would say so.
func warnCommas(o *output, cfg pathresolver.Config) {
	for _, wp := range cfg.WritePaths {
		if !strings.Contains(wp, ",") {
			continue
		}
		at := wp
		if !filepath.IsAbs(at) {
			at = filepath.Join(cfg.Root, wp)
		}
		if _, err := os.Lstat(at); errors.Is(err, os.ErrNotExist) {
			o.warning("-w takes one path, and there is no '" + wp + "'")
			o.hint("-w " + strings.Join(strings.Split(wp, ","), " -w "))
		}
	}
}

// tellPolicy says on stderr which named policy is held.
func (p *policyFlags) tellPolicy(o *output) {
	if p.held != nil {
		o.stderr.printf("pinfold: policy '%s' (%s)\n", p.held.Name(), shortHash(p.held.Hash().String()))
	}
}

// shortHash is as much of a hash as a person compares.
func shortHash(hash string) string { return hash[:min(12, len(hash))] }

// noNetwork reports whether the named policy takes the network away.
func (p *policyFlags) noNetwork() bool {
	if p.held == nil {
		return false
	}
	on, _, _ := p.held.Network()
	return !on
}

// printProblems prints what is worth a word, on standard error.
func printProblems(o *output, found []permission.Problem) {
	for _, f := range found {
		o.warning(f.Position.String() + ": " + f.Message)
		if f.Hint != "" {
			o.hint(f.Hint)
		}
	}
}

// warnings leaves out the notes.
func warnings(found []permission.Problem) []permission.Problem {
	return slices.DeleteFunc(slices.Clone(found), func(p permission.Problem) bool { return p.Severity == permission.Note })
}

// policyGiven reports whether a flag describes a policy.
func policyGiven(cmd *cobra.Command) bool {
	for _, name := range []string{"directory", "write-path", "write-paths-from", "git", "hide", "protect", "unprotect", "hardlinks", "allow-broad-root", "policy", "preset", "agent"} {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return false
}
