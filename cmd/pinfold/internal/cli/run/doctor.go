package run

import (
	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/inside"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// NewDoctor is the command doctor.
func NewDoctor(a *cli.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works on this system, and how to fix what does not",
		Long: `doctor tries what pinfold needs and what makes it faster or stronger, as the
user who calls it. It exits with 0 when everything that 'pinfold run' needs is
there, and 1 when something is missing.`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			findings := withNested(launcher.Probe())
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
	return cmd
}

// withNested explains what is missing inside a run, where it is meant to be.
func withNested(findings []launcher.Finding) []launcher.Finding {
	if !inside.Run() {
		return findings
	}
	for i := range findings {
		if f := &findings[i]; !f.OK {
			f.Fix = "see nested"
		}
	}
	return append([]launcher.Finding{{
		Name: "nested", Detail: "this is inside 'pinfold run'", Means: "another run starts in it only where that one was given --nested, by an ordinary user",
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
	}
	if ready(findings) {
		out.Printf("%s\n", out.Paint(cli.ColourGood, "pinfold run works here"))
	} else {
		out.Printf("%s\n", out.Paint(cli.ColourBad, "pinfold run does not work here"))
	}
}
