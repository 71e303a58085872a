package permission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/access"
)

// chainJSON is a policy as it is kept: every document of the chain with where
// its parts stand, so that a decision names the same line after it was read
// back. Grants are not part of it.
type chainJSON struct {
	Version int         `json:"version"`
	Root    string      `json:"root"`
	Groups  []groupJSON `json:"groups"`
	Protect []string    `json:"protect"` // places that no policy opens for writing
}

type groupJSON struct {
	Sealed    bool         `json:"sealed"`
	Documents []sourceJSON `json:"documents"`
}

type sourceJSON struct {
	File     string                     `json:"file"`
	Document json.RawMessage            `json:"document"`
	At       map[string]access.Position `json:"at"`
}

// EncodePolicy writes the whole chain of a policy, for DecodePolicy. What was
// granted beside it is left out.
func EncodePolicy(p *Policy) []byte {
	c := chainJSON{Version: 1, Root: p.root}
	for _, r := range p.always.rules {
		c.Protect = append(c.Protect, r.text)
	}
	for _, g := range p.groups {
		out := groupJSON{Sealed: g.sealed}
		for _, l := range g.layers {
			doc, _ := l.src.Document.MarshalJSON() // it does not fail
			out.Documents = append(out.Documents, sourceJSON{l.src.File, doc, l.src.at})
		}
		c.Groups = append(c.Groups, out)
	}
	data, err := json.Marshal(c)
	if err != nil {
		return nil // strings and numbers always encode
	}
	return data
}

// DecodePolicy reads what EncodePolicy wrote. The data must come from a trusted place,
// since it says itself what it allows. The hash is that of the policy that was
// written.
func DecodePolicy(data []byte) (*Policy, error) {
	var c chainJSON
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("a stored policy cannot be read: %w", err)
	}
	if c.Version != 1 || len(c.Groups) == 0 {
		return nil, errors.New("a stored policy is of no version that is known")
	}
	var groups []group
	for _, g := range c.Groups {
		var layers []*layer
		for _, d := range g.Documents {
			src, err := Decode(d.File, d.Document)
			if err != nil {
				return nil, err
			}
			src.at = d.At
			if own, err := builtin(strings.TrimPrefix(d.File, builtinPrefix)); err == nil && own != nil && own.File == d.File && bytes.Equal(Encode(own.Document), Encode(src.Document)) {
				src = own
			}
			layers = append(layers, compileLayer(src))
		}
		groups = append(groups, newGroup(layers, g.Sealed))
	}
	always := (&layer{name: "always", src: &Source{File: "always"}}).patterns("protect", c.Protect, true)
	return newPolicy(c.Root, always, groups), nil
}
