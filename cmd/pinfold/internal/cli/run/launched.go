package run

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/policyflag"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// launched is what is told of a launch (P14): which policy it got, so that
// what an agent did can later be set beside what it was allowed then.
type launched struct {
	Policy  string `json:"policy,omitempty"` // the innermost document's name; "" where flags alone describe it
	Hash    string `json:"hash,omitempty"`   // of the policy, or of what policyFile shows; "" where nothing is held
	Program string `json:"program"`
	Sandbox bool   `json:"sandbox"`
}

// launchLine is the first line that a launch adds to --report.
type launchLine struct {
	Time   string   `json:"time"`
	Launch launched `json:"launch"`
}

// describeLaunch describes the launch of a program under these flags; shown is the
// content of PolicyFile.
func describeLaunch(p *policyflag.Flags, program string, shown []byte) launched {
	l := launched{Program: pathresolver.EscapePath(program), Sandbox: true}
	if p.Held != nil {
		l.Policy, l.Hash = p.Held.Name(), p.Held.Hash().String()
		return l
	}
	sum := sha256.Sum256(shown)
	l.Hash = hex.EncodeToString(sum[:])
	return l
}

// env is what the command is told of it.
func (l launched) env() []string {
	return []string{"PINFOLD_POLICY=" + l.Policy, "PINFOLD_POLICY_HASH=" + l.Hash}
}

// launched writes the first line of the report, if one is wanted.
func (c *refused) launched(l launched) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil {
		c.file.append(launchLine{cli.TimeText(time.Now()), l})
	}
}
