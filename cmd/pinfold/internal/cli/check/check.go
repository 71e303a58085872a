package check

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/gitbeside"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/internal/gitshare"
	"github.com/pinfold-dev/pinfold/internal/trusted"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

type checkFlags struct {
	policyflag.Flags
	roots         []string
	format        string
	json          bool
	strict        bool
	baseline      string
	writeBaseline string
}

// New is the command check.
func New(a *cli.App) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [flags] [FILE|DIR]...",
		Short: "Say whether a policy would be accepted, and everything that is wrong with it",
		Long: `check validates a directory and its write paths as 'pinfold run' would, changes
nothing, and reports every violation at once. With FILE or DIR it validates
policies (YAML) and agent definitions (Markdown) instead; so it does, without
flags, where the directory has a .pinfold.yaml that names them. It exits with 0
when there is no violation, 1 when there are some, and 2 when it was called
wrongly.`,
		Example: `  pinfold check -w src -w docs
  pinfold check -C agents/worker --write-paths-from write-paths.txt --format github
  pinfold check --strict .claude/agents policy.yaml
  pinfold check --write-baseline .pinfold-baseline.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.complete(cmd); err != nil {
				return err
			}
			f.Named.Within = true
			if len(args) > 0 {
				if err := f.onlyFiles(cmd); err != nil {
					return err
				}
				return checkFiles(a, &f, args)
			}
			project, err := f.project(cmd)
			if err != nil {
				return err
			}
			if project != "" {
				return checkProject(a, &f, project)
			}
			if f.baseline+f.writeBaseline != "" {
				return cli.UsageError(errors.New("a baseline is of files"), "name FILE or DIR, or write a .pinfold.yaml that does")
			}
			return check(a, &f)
		},
	}
	f.Add(cmd)
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.roots, "directory", "C", []string{"."}, "the directory `DIR` to check (repeatable: each is checked with every write path)")
	flags.BoolVar(&f.strict, "strict", false, "of files: count warnings as errors")
	flags.StringVar(&f.baseline, "baseline", "", "of files: leave out the findings that `FILE` knows")
	flags.StringVar(&f.writeBaseline, "write-baseline", "", "of files: write what is found to `FILE`, and exit with 0")
	flags.StringVar(&f.format, "format", "text", "how to print: `"+strings.Join(formatNames(), "|")+"`")
	flags.BoolVar(&f.json, "json", false, "the same as --format json")
	_ = cmd.MarkFlagFilename("baseline", "json")
	_ = cmd.MarkFlagFilename("write-baseline", "json")
	_ = cmd.MarkFlagDirname("directory")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formatNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// complete joins the two flags that mean the same, --json and --format json, and
// refuses flags that contradict each other.
func (f *checkFlags) complete(cmd *cobra.Command) error {
	if f.json {
		if cmd.Flags().Changed("format") && f.format != "json" {
			return cli.UsageError(errors.New("--json and --format "+f.format+" are two formats: give one"), "")
		}
		f.format = "json"
	}
	if !slices.Contains(formatNames(), f.format) {
		return cli.UsageError(cli.UnknownWord("format", f.format, formatNames()...), "")
	}
	if f.baseline != "" && f.writeBaseline != "" {
		return cli.UsageError(errors.New("--baseline leaves findings out and --write-baseline writes them: give one"), "")
	}
	return nil
}

func check(a *cli.App, f *checkFlags) error {
	cfg, err := f.Config(a.Stdin)
	var unlisted *pathresolver.ConfigError
	if err != nil && !errors.As(err, &unlisted) {
		return err
	}
	report := checkReport{
		given: len(f.WritePaths),
		from:  f.ListFrom,
		null:  f.Null,
		at:    f.At,
	}
	protect := cfg.Protect
	for _, root := range f.roots {
		if unlisted != nil {
			report.add(root, 0, unlisted.Violations)
			continue
		}
		cfg.Root = root
		policyflag.WarnMistyped(a.Out, cfg)
		cfg.Protect = slices.Concat(protect, policyflag.ProtectList(root, f.ListFrom))
		report.add(root, len(cfg.WritePaths), slices.Concat(validateForRun(cfg), opened(cfg.Unprotect), historyWarning(cfg)))
	}
	if err := formatOf(f.format).roots(a.Out, &report); err != nil {
		return err
	}
	if report.Errors > 0 {
		return cli.Silent(cli.ExitFailed)
	}
	if f.format == "text" && f.Held == nil && report.given == 0 && !f.Git {
		a.Out.Warning("nothing but the directory was checked: no write path and no FILE was named, and there is no .pinfold.yaml")
		a.Out.Hint("'pinfold check policy.yaml agent.md' checks files, and 'pinfold check -w src' a write path")
	}
	return nil
}

// validateForRun is pathresolver.Validate as 'pinfold run' needs it, which opens a git
// directory that lies elsewhere.
func validateForRun(cfg pathresolver.Config) []pathresolver.Violation {
	git, err := gitbeside.Find(&cfg, "")
	git.Close()
	if err == nil {
		return pathresolver.Validate(cfg)
	}
	cfg.Git = false
	v := pathresolver.Violation{Code: pathresolver.CodeGitOutside, Severity: pathresolver.SeverityError, Field: "git", Value: ".git", Message: err.Error()}
	if refused, ok := errors.AsType[*gitshare.Error](err); ok {
		v.Hint = refused.Fix
	}
	return append([]pathresolver.Violation{v}, pathresolver.Validate(cfg)...)
}

// opened warns of files that programs run by themselves and that may be written.
func opened(unprotect []string) (found []pathresolver.Violation) {
	for i, word := range unprotect {
		for _, f := range trusted.Files() {
			if word == f.Name || word == f.Glob {
				found = append(found, pathresolver.Violation{Code: "opens_trusted", Severity: pathresolver.SeverityWarning,
					Field: "unprotect[" + strconv.Itoa(i) + "]", Value: word,
					Message: "unprotect '" + word + "' lets what acts by itself be written: " + f.String()})
				break
			}
		}
	}
	return found
}

// checkReport is what check found. Its JSON form is docs/schema/check.schema.json.
type checkReport struct {
	OK         bool        `json:"ok"`
	Errors     int         `json:"errors"`
	Warnings   int         `json:"warnings"`
	Roots      []string    `json:"roots"`
	Violations []violation `json:"violations"`

	checked int    // write paths for each root
	given   int    // how many of them came as flags, before those of a file
	from    string // that file
	null    bool   // whose entries are not lines

	at map[string]access.Position // of the fields in a policy that is named; nil without one
}

// violation is one finding and the root it belongs to. All text in it is
// escaped: valid UTF-8 without control characters.
type violation struct {
	Root string `json:"root"`
	pathresolver.Violation
}

func (r *checkReport) add(root string, checked int, found []pathresolver.Violation) {
	root = pathresolver.EscapePath(root)
	r.Roots = append(r.Roots, root)
	r.checked = checked
	for _, v := range found {
		v.Value = pathresolver.EscapePath(v.Value)
		v.Link = pathresolver.EscapePath(v.Link)
		v.Target = pathresolver.EscapePath(v.Target)
		r.Violations = append(r.Violations, violation{Root: root, Violation: v})
		if v.Severity == pathresolver.SeverityWarning {
			r.Warnings++
		} else {
			r.Errors++
		}
	}
	r.OK = r.Errors == 0
}

// place is where a violation stands: the policy that is named, or the file that
// lists the write paths, and the line there (0 where it has none), or "" for a
// flag.
func (r *checkReport) place(v *violation) (file string, line int) {
	if r.at != nil {
		if at := r.at[v.Field]; at.Line > 0 && !strings.HasPrefix(at.File, "preset:") {
			return at.File, at.Line
		}
		return "", 0
	}
	i, ok := writePathIndex(v.Field)
	if !ok || i < r.given || r.from == "" || r.from == "-" {
		return "", 0
	}
	file = filepath.Clean(r.from)
	if r.null {
		return file, 0
	}
	return file, i - r.given + 1
}

// writePathIndex reads the index out of a finding's field "write_paths[7]".
func writePathIndex(field string) (int, bool) {
	text, ok := strings.CutPrefix(field, "write_paths[")
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(strings.TrimSuffix(text, "]"))
	return i, err == nil
}

// historyWarning is the finding of check.
func historyWarning(cfg pathresolver.Config) []pathresolver.Violation {
	if len(cfg.Hide)+len(cfg.Mask) == 0 {
		return nil
	}
	git, err := gitbeside.Find(&cfg, "")
	git.Close()
	if err != nil {
		return nil // validateForRun has said why
	}
	r, err := pathresolver.New(cfg)
	if err != nil {
		return nil // Validate has said why
	}
	defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
	h, found := gitbeside.HiddenInHistory(cfg, r, cfg.GitDirs)
	if !found {
		return nil
	}
	return []pathresolver.Violation{{
		Code: "hidden_in_history", Severity: pathresolver.SeverityWarning, Field: "hide", Value: h.First,
		Message: h.String() + " and can be read from git's history, as by '" + h.Shows() + "'", Hint: gitbeside.HistoryAdvice,
	}}
}
