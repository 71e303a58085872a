package policy

import (
	"slices"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/internal/trusted"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/permission"
)

// shownTrusted is an entry of the table of files that programs run by
// themselves, as `policy show --json` prints it.
type shownTrusted struct {
	trusted.File
	Open bool `json:"open"` // the policy opens it
}

func shownTrustedFiles(open []string) []shownTrusted {
	var list []shownTrusted
	for _, f := range trusted.Files() {
		list = append(list, shownTrusted{f, slices.Contains(open, f.Glob)})
	}
	return list
}

// policyList prints the presets, and what is protected by default.
func policyList(a *cli.App, asJSON bool) error {
	files := shownTrustedFiles(nil)
	if asJSON {
		return cli.WriteJSON(a.Out.Stdout, struct {
			Presets   []string       `json:"presets"`
			Protected []string       `json:"protected"` // git's own
			Trusted   []shownTrusted `json:"trusted"`
		}{permission.Builtins(), pathresolver.DefaultProtected(), files})
	}
	out := a.Out.Stdout
	for _, name := range permission.Builtins() {
		out.Printf("%s\n", name)
	}
	out.Printf("\nFiles that programs run by themselves: protected beneath write paths, unless\n--unprotect NAME, or 'unprotect: [NAME]' in a policy's fs, opens them.\n\n")
	name, glob := 0, 0
	for _, f := range files {
		name, glob = max(name, len(f.Name)), max(glob, min(len(f.Glob), 40))
	}
	for _, f := range files {
		out.Printf("%-*s  %-*s  %s\n", name, f.Name, glob, f.Glob, f.String())
	}
	return nil
}

// printTrusted prints, as comments after a policy's documents, which files that
// programs run by themselves it opens, and which it leaves protected.
func printTrusted(o *cli.Output, p *permission.Policy) {
	var names []string
	for _, f := range shownTrustedFiles(behind(p).Unprotected()) {
		if f.Open {
			o.Stdout.Printf("# opened: %s: %s\n", f.Glob, f.String())
		} else if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	line := "# protected, since programs run them by themselves ('pinfold policy show'):"
	for _, n := range names {
		if len(line)+1+len(n) > 80 {
			o.Stdout.Printf("%s\n", line)
			line = "#  "
		}
		line += " " + n
	}
	o.Stdout.Printf("%s\n", line)
}

func policyShowJSON(a *cli.App, p *permission.Policy) error {
	type document struct {
		File     string              `json:"file"`
		Document permission.Document `json:"document"`
	}
	var documents []document
	for _, src := range p.Sources() {
		documents = append(documents, document{pathresolver.EscapePath(src.File), src.Document})
	}
	return cli.WriteJSON(a.Out.Stdout, struct {
		Documents []document     `json:"documents"`
		Trusted   []shownTrusted `json:"trusted"`
	}{documents, shownTrustedFiles(behind(p).Unprotected())})
}
