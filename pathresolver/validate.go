package pathresolver

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/internal/gitrepo"
	"github.com/pinfold-dev/pinfold/internal/trusted"
)

// New validates the configuration and opens the root. The open root stays the same
// directory: if another one takes its path later, that one is not used. The error is a
// *ConfigError with every violation, or what the system said.
func New(cfg Config) (*Resolver, error) {
	r, found := build(cfg)
	if r == nil {
		return nil, &ConfigError{Violations: found}
	}
	r.warnings = found
	return r, nil
}

// Validate returns every violation of the configuration: errors, on which New
// fails, and warnings. It leaves nothing open.
func Validate(cfg Config) []Violation {
	r, found := build(cfg)
	if r != nil {
		_ = r.Close()
	}
	return found
}

// findings collects violations, in the order of the fields.
type findings struct {
	list    []Violation
	runners []gitRunner // of git's configuration, until it is known what may be written
}

func (f *findings) add(v Violation) {
	if v.Severity == "" {
		v.Severity = SeverityError
	}
	f.list = append(f.list, v)
}

func (f *findings) failed() bool {
	return slices.ContainsFunc(f.list, func(v Violation) bool { return v.Severity == SeverityError })
}

// build validates everything that can be validated and returns an open
// Resolver if there was no error among the findings.
func build(cfg Config) (*Resolver, []Violation) {
	var f findings
	r := &Resolver{tree: &tree{hardLinks: cfg.HardLinks}}
	r.noRoot()
	r.origins, r.grant, r.restrict = cfg.Origins, cfg.Grant, cfg.Restrict
	r.writeLists, r.readLists = boundsOf(cfg.Origins.Write), boundsOf(cfg.Origins.Read)
	r.hide = r.compileRules(&f, "hide", cfg.Hide, nil)
	r.protect = r.compileRules(&f, "protect", cfg.Protect, defaultGlobs(&f, cfg))
	r.askRead = r.compileRules(&f, "ask_read", cfg.AskRead, nil)
	r.askWrite = r.compileRules(&f, "ask_write", cfg.AskWrite, nil)
	r.mask = r.compileRules(&f, "mask", cfg.Mask, nil)
	r.gitDir = !slices.Contains(cfg.Unprotect, ".git")
	writes := cfg.Git || len(cfg.WritePaths) > 0 || len(cfg.AskWrite) > 0
	r.widens = cfg.Widens || writes
	r.trusted, _ = trusted.New(cfg.Unprotect)
	if r.gitDir {
		r.git = newGitGuard(cfg.Unprotect, r.standsAt, r.namesIn)
		r.git.outside, r.git.trees = cfg.GitDirs, cfg.GitTrees
		if cfg.GitWorktree != "" {
			r.git.own = fold("worktrees/" + cfg.GitWorktree)
		}
	}

	rootOK := r.findRoot(&f, cfg)
	gitElsewhere := ""
	r.setReadPaths(&f, cfg, rootOK)
	r.settle()
	write := slices.Clone(cfg.WritePaths)
	if rootOK && r.gitDir {
		r.git.findRoots()
		if r.git.bare() {
			// Its HEAD is there, and changes with every checkout.
			r.protect = newRuleSet(slices.DeleteFunc(r.protect.all, func(g glob) bool { return g.text == "HEAD" }))
		}
		var repo *gitrepo.Repository
		if r.widens {
			var said findings
			repo = r.guardConfigured(&said)
			if said.failed() && !writes {
				r.widens, r.unclearGit = false, said.list // it is only read, as it was
			} else {
				f.list, f.runners = append(f.list, said.list...), append(f.runners, said.runners...)
			}
		}
		gitElsewhere = r.gitBeneath(repo)
		r.guardGit(&f, cfg.Git && !r.git.bare() && gitElsewhere == "")
		r.addProtected(r.submodules()...)
	}
	gitAt := -1 // of write, what --git adds
	if cfg.Git {
		own := cmp.Or(gitElsewhere, ".git")
		if r.git != nil && r.git.bare() {
			own = "."
		}
		if own != "." || !slices.Contains(write, own) {
			gitAt = len(write)
			write = append(write, own)
		}
	}
	var good []writePath
	for i, given := range write {
		field := fieldOf("write_paths", i)
		if i == gitAt {
			field = "git"
		}
		if place, ok := r.checkWritePath(&f, field, given, cfg.Root, rootOK); ok && !r.onlyAsked(&f, field, given, place) {
			good = append(good, writePath{field: field, given: given, place: place})
		}
	}
	r.setWritePaths(&f, good)
	r.warnRunners(&f)
	if rootOK && len(r.write) > 0 {
		r.guardTrustedLinks()
	}
	if f.failed() {
		_ = r.Close()
		return nil, f.list
	}
	return r, f.list
}

// compileRules reads globs, and after them our own, whose origin is field's; a
// bad one is a finding.
func (r *Resolver) compileRules(f *findings, field string, given, ours []string) ruleSet {
	var globs []glob
	for i, text := range slices.Concat(given, ours) {
		g, err := compileGlob(text)
		if err != nil {
			f.add(Violation{Code: codeBadPattern, Field: fieldOf(field, i), Value: text,
				Message: fmt.Sprintf("%s glob '%s' %s", field, EscapePath(text), err)})
			continue
		}
		if g.origin = r.origins.Entries[field]; i < len(given) {
			g.origin = r.origins.Entries[fieldOf(field, i)]
		}
		globs = append(globs, g)
	}
	return newRuleSet(globs)
}

// addProtected adds what is protected by default here.
func (r *Resolver) addProtected(globs ...glob) {
	for i := range globs {
		globs[i].origin = r.origins.Entries["protect"]
	}
	r.protect = newRuleSet(append(r.protect.all, globs...))
}

// fieldOf names an entry of a list, as Violation.Field does; fieldIndex is
// its inverse.
func fieldOf(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

func fieldIndex(name, field string) (i int, ok bool) {
	rest, ok := strings.CutPrefix(name, field+"[")
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
	return i, err == nil
}

// defaultGlobs are what is protected by default but for what was taken away.
func defaultGlobs(f *findings, cfg Config) []string {
	var globs []string
	defaults := DefaultProtected()
	_, others := trusted.New(cfg.Unprotect)
	for i, name := range cfg.Unprotect {
		if name != ".git" && !slices.Contains(defaults, name) && slices.Contains(others, name) {
			f.add(Violation{Code: codeUnknownUnprotect, Field: fieldOf("unprotect", i), Value: name,
				Message: fmt.Sprintf("unprotect '%s' is not protected by default", EscapePath(name)),
				Hint:    "want one of: .git, " + strings.Join(slices.Concat(defaults, trusted.Names()), ", ")})
		}
	}
	for _, d := range defaults {
		// Those of other work trees are told apart by who made them (gitdir.go).
		if !slices.Contains(cfg.Unprotect, d) && d != gitWorktrees {
			globs = append(globs, d)
		}
	}
	return globs
}

// findRoot resolves and opens the root.
func (r *Resolver) findRoot(f *findings, cfg Config) bool {
	bad := func(code access.Code, format string, args ...any) bool {
		f.add(Violation{Code: code, Field: "root", Value: cfg.Root, Message: fmt.Sprintf(format, args...)})
		return false
	}
	shown := EscapePath(cfg.Root)
	switch {
	case cfg.Root == "":
		return bad(codeRootEmpty, "no sandbox root is given")
	case strings.IndexByte(cfg.Root, 0) >= 0:
		return bad(codeRootUnreadable, "sandbox root '%s' holds a NUL byte", shown)
	}
	given, err := filepath.Abs(cfg.Root)
	if err == nil {
		r.rootGiven = given
		r.root, err = filepath.EvalSymlinks(given)
	}
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(r.root)
	}
	switch {
	case os.IsNotExist(err):
		return bad(codeRootMissing, "sandbox root '%s' does not exist", shown)
	case err != nil:
		return bad(codeRootUnreadable, "sandbox root '%s' cannot be examined: %s", shown, reason(err))
	case !info.IsDir():
		return bad(codeRootNotDirectory, "sandbox root '%s' is not a directory", shown)
	}
	if why := broadRoot(r.root, info); why != "" && !cfg.AllowBroadRoot {
		f.add(Violation{Code: codeRootBroad, Field: "root", Value: cfg.Root,
			Message: fmt.Sprintf("sandbox root '%s' is %s", shown, why),
			Hint:    "name a project directory, or allow it with --allow-broad-root"})
		return false
	}
	if err := r.openRoot(r.root, cfg.ForceWalker); err != nil {
		return bad(codeRootUnreadable, "sandbox root '%s' cannot be opened: %s", shown, reason(err))
	}
	for _, place := range r.refusedMounts() {
		f.add(Violation{Code: codeMountRefused, Severity: SeverityWarning, Field: "root", Value: cfg.Root,
			Message: fmt.Sprintf("what is mounted at '%s' is a file system of the kernel's own: it is neither read nor written", EscapePath(place))})
	}
	return true
}

// setReadPaths checks the read paths, and bounds what is read by them.
func (r *Resolver) setReadPaths(f *findings, cfg Config, rootOK bool) {
	if cfg.ReadPaths != nil && len(cfg.ReadPaths) == 0 {
		f.add(Violation{Code: codeNothingReadable, Field: "read_paths", Message: "read_paths has no entry: nothing could be read",
			Hint: "leave it out to have everything readable, or name directories"})
		return
	}
	var places []string
	for i, given := range cfg.ReadPaths {
		if place, ok := r.checkPath(f, "read_path", fieldOf("read_paths", i), given, cfg.Root, rootOK); ok {
			places = append(places, place)
		}
	}
	r.read = newReadPaths(places)
}

// onlyAsked reports, with a word, that nothing beneath a write path may be
// changed without asking.
func (r *Resolver) onlyAsked(f *findings, field, given, place string) bool {
	if !r.verdictAt(place).AskWrite {
		return false
	}
	f.add(Violation{Code: codePathAsked, Severity: SeverityWarning, Field: field, Value: given,
		Message: fmt.Sprintf("allowed_write_path '%s' has no effect: what lies there has to be asked for", EscapePath(given))})
	return true
}

// writePath is one that passed the checks.
type writePath struct{ field, given, place string }

// setWritePaths collapses what is given twice or lies beneath another.
func (r *Resolver) setWritePaths(f *findings, good []writePath) {
	r.writeAt = map[string]string{}
	sorted := slices.Clone(good)
	sort.SliceStable(sorted, func(i, j int) bool { return len(sorted[i].place) < len(sorted[j].place) })
	for _, w := range sorted {
		if over, ok := r.writePathOf(w.place); ok {
			v := Violation{Code: CodePathNested, Severity: SeverityWarning, Field: w.field, Value: w.given,
				Message: fmt.Sprintf("allowed_write_path '%s' lies beneath '%s', which covers it", EscapePath(w.given), EscapePath(over))}
			if over == w.place {
				v.Code = codePathDuplicate
				v.Message = fmt.Sprintf("allowed_write_path '%s' is given twice", EscapePath(w.given))
			}
			f.add(v)
			continue
		}
		r.writeAt[w.place] = r.origins.Entries[w.field]
		r.write = append(r.write, w.place)
	}
	slices.Sort(r.write)
}

// reason is the system's own words, without the path.
func reason(err error) string {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err.Error()
		}
		err = u.Unwrap()
	}
}
