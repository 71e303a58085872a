package main

import (
	"path/filepath"

	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
)

// text reads the policy that the flags name. The broker is given its text: it
// opens no file for anybody.
func (p *policyFrom) text(body *brokerhttp.HireBody) error {
	if _, err := p.given(); err != nil {
		return err
	}
	body.Preset = p.preset
	file := p.file()
	if file == "" {
		return nil
	}
	data, err := readGiven(p.flag(), file)
	if err != nil {
		return usageError(fileError(file, err), "")
	}
	text := &brokerhttp.Text{Name: filepath.Base(file), Text: string(data)}
	if abs, err := filepath.Abs(file); err == nil {
		if rel, err := filepath.Rel(body.Cwd, abs); body.Cwd != "" && err == nil && filepath.IsLocal(rel) {
			text.Name = filepath.ToSlash(rel)
		}
	}
	if p.agent != "" {
		body.Agent = text
	} else {
		body.Policy = text
	}
	return nil
}
