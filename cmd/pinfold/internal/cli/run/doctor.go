package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/child"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewDoctor is the command doctor.
func NewDoctor(a *cli.App) *cobra.Command {
	var asJSON, within bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works on this system, and how to fix what does not",
		Long: `doctor runs a command of its own as 'pinfold run' does, in a temporary directory,
and tries what pinfold needs and what makes it faster or stronger, as the user
who calls it. It exits with 0 when 'pinfold run' works here, and 1 when it does
not; for what is missing it prints a line to paste.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if within {
				return tryView()
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			findings := withNested(withRun(ctx, launcher.Probe()))
			if ctx.Err() != nil {
				return cli.Silent(cli.ExitSignal + int(syscall.SIGINT))
			}
			if asJSON {
				if err := cli.WriteJSON(a.Out.Stdout, doctorReport(findings)); err != nil {
					return err
				}
			} else {
				doctorText(a.Out, findings)
			}
			if !ready(findings) {
				return cli.Silent(cli.ExitFailed)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&within, "within", false, "what doctor itself runs in a view")
	_ = cmd.Flags().MarkHidden("within")
	return cmd
}

// notConfined are the processes whose work keeps them from giving up their rights, as
// the one that serves a view does.
var notConfined = launcher.Finding{
	Name: "not confined", OK: true, Means: "docs/threat-model.md says why, and what reaches them",
	Detail: "by what they do: run --approve tty; what finds answers for a run that asks; serve; mcp with a broker or --permission-prompt",
}

const (
	trialFile = "out/written" // beneath the trial's write path
	// trialLimit is how long a run may take that does next to nothing.
	trialLimit = 30 * time.Second
)

// tryView is what runs inside: the view can be written where a write path is, and
// nowhere else.
func tryView() error {
	want := []byte("through the view")
	if err := os.WriteFile(trialFile, want, 0o600); err != nil {
		return err
	}
	if got, err := os.ReadFile(trialFile); err != nil || !bytes.Equal(got, want) {
		return fmt.Errorf("%s was read as %q: %w", trialFile, got, err)
	}
	if os.WriteFile("beside", want, 0o600) == nil {
		return errors.New("the view lets write what no write path covers")
	}
	return os.Remove(trialFile)
}

// withRun tries the whole of run. Its verdict counts: what the probes miss does not
// make doctor say yes, and what they find missing without need does not make it say no.
func withRun(ctx context.Context, findings []launcher.Finding) []launcher.Finding {
	run := launcher.Finding{Name: "run", Required: true, Means: "a command ran as 'pinfold run' runs it, and wrote through its view"}
	failed, hint := tryRun(ctx)
	if run.OK = failed == ""; run.OK {
		run.Detail = "a command ran in a view and wrote through it"
		for i := range findings {
			findings[i].Required = findings[i].Required && findings[i].OK
		}
		return slices.Concat([]launcher.Finding{run}, findings, []launcher.Finding{notConfined})
	}
	run.Detail, run.Means, run.Fix = failed, "what 'pinfold run' itself says", hint
	// What only refers to another finding is left to that one.
	if missing := slices.IndexFunc(findings, func(f launcher.Finding) bool { return f.Required && !f.OK && f.Paste != "" }); missing >= 0 {
		run.Fix, run.Paste = "see "+findings[missing].Name, findings[missing].Paste
	}
	if run.Fix == "" && strings.HasSuffix(failed, syscall.EPERM.Error()) {
		run.Fix, run.Paste = "a container's list of system calls forbids it: flags of docker run and podman run", "--security-opt seccomp=unconfined"
	}
	if run.Fix == "" {
		run.Fix = "none is known; please report it with what this prints"
	}
	return append([]launcher.Finding{run}, findings...)
}

// tryRun runs this program in a view and says what went wrong, and what run itself
// says of how to mend it. It leaves nothing.
func tryRun(ctx context.Context) (failed, hint string) {
	dir, err := trialDir()
	if err != nil {
		return err.Error(), "TMPDIR=DIR pinfold doctor, with a directory that you may write"
	}
	defer func() { _ = os.RemoveAll(dir) }() // the verdict stands
	self, err := child.Self()
	if err != nil {
		return err.Error(), ""
	}
	ctx, cancel := context.WithTimeout(ctx, trialLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "run", "-q", "-C", filepath.Join(dir, "project"), "-w", "out", "--", "pinfold", "doctor", "--within")
	cmd.Args[0] = "pinfold"
	// What is kept of runs is not kept of this one.
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	if err == nil {
		return "", ""
	}
	for line := range strings.Lines(said.String()) {
		line = strings.TrimSpace(line)
		if text, is := strings.CutPrefix(line, "pinfold: error: "); is && failed == "" {
			failed = text
		}
		if text, is := strings.CutPrefix(line, "pinfold: hint: "); is && hint == "" {
			hint = text
		}
	}
	if failed == "" {
		failed = strings.TrimSpace(fmt.Sprintf("%v %s", err, said.String()))
	}
	return failed, hint
}

// trialDir makes the project of the trial: where the system's place for it cannot be
// written, which run does not need, in another that is usual.
func trialDir() (dir string, err error) {
	var first error
	for _, at := range []string{os.TempDir(), os.Getenv("XDG_RUNTIME_DIR"), "/var/tmp", os.Getenv("HOME"), "."} {
		if at == "" {
			continue
		}
		if dir, err = os.MkdirTemp(at, "pinfold-doctor-"); err == nil {
			if dir, err = filepath.Abs(dir); err == nil {
				return dir, os.MkdirAll(filepath.Join(dir, "project", "out"), 0o700)
			}
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// withNested explains what is missing inside a run, where it is meant to be.
func withNested(findings []launcher.Finding) []launcher.Finding {
	root := os.Geteuid() == 0
	if !inside.Run() || inside.Nested() && !root {
		return findings
	}
	means := "another run starts in it only where that one was given --nested, by an ordinary user"
	if root {
		means = "the kernel lets root start no other run in it: that one needs --nested --user NAME"
	}
	for i := range findings {
		if f := &findings[i]; !f.OK {
			f.Fix, f.Paste = "see nested", ""
		}
	}
	return append([]launcher.Finding{{
		Name: "nested", Detail: "this is inside 'pinfold run'", Means: means,
		Fix: "run 'pinfold doctor' outside to see what works on this system",
	}}, findings...)
}

// ready reports whether nothing that is required is missing.
func ready(findings []launcher.Finding) bool {
	for _, f := range findings {
		if f.Required && !f.OK {
			return false
		}
	}
	return true
}

type doctorJSON struct {
	OK       bool               `json:"ok"`
	Findings []launcher.Finding `json:"findings"`
}

func doctorReport(findings []launcher.Finding) doctorJSON {
	if findings == nil {
		findings = []launcher.Finding{} // an empty list, never null
	}
	return doctorJSON{OK: ready(findings), Findings: findings}
}

func doctorText(o *cli.Output, findings []launcher.Finding) {
	out := o.Stdout
	for _, f := range findings {
		mark := out.Paint(cli.ColourGood, "ok     ")
		switch {
		case !f.OK && f.Required:
			mark = out.Paint(cli.ColourBad, "missing")
		case !f.OK:
			mark = out.Paint(cli.ColourWarn, "without")
		}
		out.Printf("%s %-22s %s\n", mark, f.Name, pathresolver.EscapePath(f.Detail))
		if f.OK {
			continue
		}
		if f.Means != "" {
			out.Printf("%31s%s\n", "", f.Means)
		}
		if f.Fix != "" {
			out.Printf("%31sfix: %s\n", "", f.Fix)
		}
		if f.Paste != "" {
			out.Printf("%31stype: %s\n", "", f.Paste)
		}
	}
	if ready(findings) {
		out.Printf("%s\n", out.Paint(cli.ColourGood, "pinfold run works here"))
	} else {
		out.Printf("%s\n", out.Paint(cli.ColourBad, "pinfold run does not work here"))
	}
}
