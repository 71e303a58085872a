package policyflag

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
	"github.com/pinfold-dev/pinfold/internal/didyoumean"
	"github.com/pinfold-dev/pinfold/internal/trusted"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// Flags are the flags that describe a policy. They mean the same to
// every command that has them.
type Flags struct {
	Root       string
	WritePaths []string
	ListFrom   string
	Null       bool
	Git        bool
	Hide       []string
	Mask       []string
	Protect    []string
	Unprotect  []string
	HardLinks  string
	broad      bool

	Named From
	// Of the policy that is named, once config was called: itself, what is worth
	// a word about it, and where the fields of a Config stand in it.
	Held  *permission.Policy
	Found []permission.Problem
	At    map[string]access.Position
}

// Add gives cmd the flags. -C is not among them: what it defaults to differs.
func (p *Flags) Add(cmd *cobra.Command) {
	p.Named.Add(cmd)
	f := cmd.Flags()
	f.StringArrayVarP(&p.WritePaths, "write-path", "w", nil, "let `PATH` beneath DIR be written: a directory or a file, which may not exist yet (repeatable)")
	f.StringVar(&p.ListFrom, "write-paths-from", "", "read more write paths from `FILE`, one a line")
	f.BoolVarP(&p.Null, "null", "0", false, "the write paths in FILE end in NUL, not in a newline")
	f.BoolVar(&p.Git, "git", false, "let the unprotected part of .git be written, so that git commit works")
	f.StringArrayVar(&p.Hide, "hide", nil, "names that match `GLOB` do not exist inside (repeatable)")
	f.StringArrayVar(&p.Mask, "mask", nil, "names that match `GLOB` are read with stand-ins for their values, and are not changed (repeatable)")
	f.StringArrayVar(&p.Protect, "protect", nil, "names that match `GLOB` are never writable (repeatable)")
	f.StringArrayVar(&p.Unprotect, "unprotect", nil, "take `NAME` off the list of what is protected by default (repeatable)")
	f.StringVar(&p.HardLinks, "hardlinks", "deny", "writing to a file with several hard links: `deny|break|allow`")
	f.BoolVar(&p.broad, "allow-broad-root", false, "admit /, the home directory and system directories as DIR")
	cli.Heading(cmd, "Flags", "directory", "write-path", "git", "hide", "mask", "policy", "preset")
	cli.Heading(cmd, "The policy in detail", "agent", "role", "protect", "unprotect", "hardlinks", "write-paths-from", "null", "allow-broad-root")
	_ = cmd.MarkFlagFilename("write-paths-from")
	_ = cmd.RegisterFlagCompletionFunc("hardlinks", cobra.FixedCompletions([]string{"deny", "break", "allow"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("unprotect", unprotectable)
}

// AddRoot gives cmd the flag -C. Empty stands for the process's own directory
// only where the flag was not given.
func (p *Flags) AddRoot(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&p.Root, "directory", "C", ".", "the directory `DIR` that bounds all access")
	_ = cmd.MarkFlagDirname("directory")
}

// unprotectable completes the names that --unprotect takes. They are put together only
// then: for each command that has the flag it is a tenth of what starting takes.
func unprotectable(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	words := append([]string{".git"}, pathresolver.DefaultProtected()...)
	seen := map[string]bool{}
	for _, t := range trusted.Files() {
		for _, word := range []string{t.Name, t.Glob} {
			if !seen[word] {
				words = append(words, cobra.CompletionWithDesc(word, t.String()))
			}
			seen[word] = true
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// Config is the policy that the flags describe. It is the one place where flags become
// a pathresolver.Config, so that they mean the same to every command. stdin is read
// where "-" is given as a list of write paths; nil where it is used for something
// else. Config does not judge the policy: pathresolver does, whose findings Open
// passes on and check lists.
func (p *Flags) Config(stdin io.Reader) (pathresolver.Config, error) {
	if err := cmp.Or(
		cli.RefuseDashes("-C", p.Root), cli.RefuseDashes("--write-path", p.WritePaths...), cli.RefuseDashes("--write-paths-from", p.ListFrom),
		cli.RefuseDashes("--hide", p.Hide...), cli.RefuseDashes("--mask", p.Mask...), cli.RefuseDashes("--protect", p.Protect...), cli.RefuseDashes("--unprotect", p.Unprotect...),
	); err != nil {
		return pathresolver.Config{}, err
	}
	links, err := pathresolver.ParseHardLinks(p.HardLinks)
	if err != nil {
		return pathresolver.Config{}, cli.UsageError(err, "")
	}
	listed, err := p.listed(stdin)
	if err != nil {
		return pathresolver.Config{}, cli.UsageError(err, "")
	}
	cfg, err := p.hold(pathresolver.Config{
		Root:           p.Root,
		WritePaths:     slices.Concat(p.WritePaths, listed),
		Git:            p.Git,
		Hide:           p.Hide,
		Mask:           p.Mask,
		Protect:        slices.Concat(p.Protect, ProtectList(p.Root, p.ListFrom)),
		Unprotect:      p.Unprotect,
		HardLinks:      links,
		AllowBroadRoot: p.broad,
	})
	if err == nil && p.Root != "" {
		err = protectProject(&cfg)
	}
	return cfg, err
}

// listed reads --write-paths-from: within the working directory where it lies
// there and that is asked for; what lies elsewhere only the caller chose.
func (p *Flags) listed(stdin io.Reader) ([]string, error) {
	if _, _, base := hostfile.LocateWithin(".", p.ListFrom); !p.Named.Within || p.ListFrom == "" || p.ListFrom == "-" || base != "." {
		return readWritePaths(p.ListFrom, p.Null, stdin)
	}
	data, err := hostfile.ReadWithin(".", p.ListFrom, maxListBytes+1)
	if err != nil {
		return nil, fmt.Errorf("write paths: %w", hostfile.Named(p.ListFrom, err))
	}
	return readWritePaths("-", p.Null, bytes.NewReader(data))
}

// Resolver is Config and Open in one, for a command that acts by one policy. The
// caller closes r.
func (p *Flags) Resolver(stdin io.Reader, o *cli.Output) (cfg pathresolver.Config, r *pathresolver.Resolver, err error) {
	if cfg, err = p.Config(stdin); err != nil {
		return cfg, nil, err
	}
	return Open(cfg, o)
}

// Open makes the resolver of a policy and passes on its warnings. It refuses a
// root that is named over a link which an agent may have made, and hides what
// pinfold keeps there. The caller closes r.
func Open(cfg pathresolver.Config, o *cli.Output) (_ pathresolver.Config, r *pathresolver.Resolver, err error) {
	real, err := hostfile.RefusePlanted(cfg.Root, hostfile.Written(o))
	if err == nil {
		cfg, err = hostfile.HidePrivate(cfg)
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

func openWarned(cfg pathresolver.Config, o *cli.Output) (*pathresolver.Resolver, error) {
	r, err := pathresolver.New(cfg)
	if err != nil {
		return nil, err
	}
	WarnMistyped(o, cfg)
	for _, v := range r.Warnings() {
		// -w . --git is meant as it stands. What git runs is told by run, as a hint.
		if v.Code == pathresolver.CodeGitRuns {
			continue
		}
		if v.Field != "git" || v.Code != pathresolver.CodePathNested {
			o.Violations([]pathresolver.Violation{v})
		}
	}
	return r, nil
}

// WarnMistyped warns of a write path that was meant as a glob or as several, or that has a
// name much like one that is there: it need not exist, so that nothing else would say so.
func WarnMistyped(o *cli.Output, cfg pathresolver.Config) {
	for _, wp := range cfg.WritePaths {
		at := wp
		if !filepath.IsAbs(at) {
			at = filepath.Join(cfg.Root, wp)
		}
		if _, err := os.Lstat(at); !errors.Is(err, os.ErrNotExist) {
			continue
		}
		if glob := strings.IndexAny(wp, "*?"); glob >= 0 {
			o.Warning("-w takes a path and no glob, and there is no '" + pathresolver.EscapePath(wp) + "'")
			o.Hint("-w " + pathresolver.EscapePath(cli.ShellLine([]string{path.Dir(wp[:glob] + "x")})) + " lets all beneath it be written")
		} else if strings.Contains(wp, ",") {
			o.Warning("-w takes one path, and there is no '" + pathresolver.EscapePath(wp) + "'")
			o.Hint("-w " + pathresolver.EscapePath(strings.Join(strings.Split(wp, ","), " -w ")))
		} else if like := likeNeighbour(at); like != "" && !slices.Contains(cfg.WritePaths, path.Join(path.Dir(wp), like)) {
			o.Warning(fmt.Sprintf("there is no '%s' yet, and there is '%s'", pathresolver.EscapePath(wp), pathresolver.EscapePath(path.Join(path.Dir(wp), like))))
			o.Hint("did you mean -w " + pathresolver.EscapePath(path.Join(path.Dir(wp), like)) + "?")
		}
	}
}

// likeNeighbour is the name beside a missing file that differs from its own in a letter,
// or in two of a long one; but not in a number, as out1 and out2 do. No more than 1,000
// names are looked at.
func likeNeighbour(at string) string {
	dir, err := os.Open(filepath.Dir(at))
	if err != nil {
		return ""
	}
	defer func() { _ = dir.Close() }() // was only read
	names, _ := dir.Readdirnames(1000)
	name := filepath.Base(at)
	if len(name) < 3 {
		return ""
	}
	letters := func(s string) string { return strings.Trim(s, "0123456789") }
	for _, other := range names {
		if len(other) < 64 && didyoumean.Distance(name, other) <= 1+len(name)/8 && letters(name) != letters(other) {
			return other
		}
	}
	return ""
}

// TellPolicy says on stderr which named policy is held.
func (p *Flags) TellPolicy(o *cli.Output) {
	if p.Held != nil {
		o.Stderr.Printf("pinfold: policy '%s' (%s)\n", p.Held.Name(), cli.ShortHash(p.Held.Hash()))
	}
}

// NoNetwork reports whether the named policy takes the network away.
func (p *Flags) NoNetwork() bool {
	if p.Held == nil {
		return false
	}
	return p.Held.Network().Mode == permission.NetworkNone
}

// LimitsNetwork reports whether the named policy leaves less than the host's network.
func (p *Flags) LimitsNetwork() bool {
	return p.Held != nil && p.Held.Network().Mode != permission.NetworkHost
}

// PrintProblems prints warnings and notes on standard error.
func PrintProblems(o *cli.Output, found []permission.Problem) {
	for _, f := range found {
		o.Warning(f.Position.String() + ": " + f.Message)
		if f.Hint != "" {
			o.Hint(f.Hint)
		}
	}
}

// Warnings leaves out the notes.
func Warnings(found []permission.Problem) []permission.Problem {
	return slices.DeleteFunc(slices.Clone(found), func(p permission.Problem) bool { return p.Severity == permission.SeverityNote })
}

// Given reports whether a flag describes a policy.
func Given(cmd *cobra.Command) bool {
	for _, name := range []string{"directory", "write-path", "write-paths-from", "git", "hide", "mask", "protect", "unprotect", "hardlinks", "allow-broad-root", "policy", "preset", "agent", "role"} {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return false
}
