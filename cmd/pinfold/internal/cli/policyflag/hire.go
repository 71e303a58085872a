package policyflag

import (
	"path/filepath"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/hostfile"
)

// Into reads the policy that the flags name. The broker is given its text: it
// opens no file for anybody.
func (p *From) Into(body *brokerhttp.HireBody) error {
	if _, err := p.Given(); err != nil {
		return err
	}
	body.Preset = p.Preset
	file := p.File()
	if file == "" {
		return nil
	}
	data, err := hostfile.Read(p.flag(), file)
	if err != nil {
		return cli.UsageError(hostfile.Named(file, err), "")
	}
	text := &brokerhttp.Text{Name: filepath.Base(file), Text: string(data)}
	if abs, err := filepath.Abs(file); err == nil {
		if rel, err := filepath.Rel(body.Cwd, abs); body.Cwd != "" && err == nil && filepath.IsLocal(rel) {
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
