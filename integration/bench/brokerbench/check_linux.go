package brokerbench

import (
	"context"
	"fmt"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/integration/bench/figures"
	"github.com/pinfold-dev/pinfold/permission"
)

// CheckName is the half about the check of a message.
const CheckName = "sendcheck"

const (
	// CheckRow is its only row.
	CheckRow     = "send_check"
	mostPatterns = 1000
	// checkBound is what the check of a message may cost with all of them, in
	// nanoseconds.
	checkBound = 2000
)

// sizes are the columns.
var sizes = []int{1, 10, mostPatterns}

// onlyChild is a registry of one.
type onlyChild struct{}

func (onlyChild) Parent(id string) string {
	if id == "me" {
		return "root"
	}
	return ""
}

// withPatterns is a policy whose send ACL has n patterns of every shape, the
// last of which matches.
func withPatterns(n int) (permission.Enforcer, error) {
	x := &permission.CrossSend{Mode: permission.Allowlist, Denylist: []string{}}
	for i := range n - 1 {
		x.Allowlist = append(x.Allowlist, fmt.Sprintf([]string{"agent:w%d:main", "agent:w%d:*", "agent:*:channel%d:*", "*:group%d", "*:topic%d:*"}[i%5], i))
	}
	x.Allowlist = append(x.Allowlist, "agent:last:*")
	src, err := permission.FromDocument("patterns.yaml", permission.Document{Version: 1, CrossSend: x,
		Defaults: map[access.Action]access.Effect{access.MsgSend: access.Allow, access.ToolUse: access.Allow}})
	if err != nil {
		return permission.Enforcer{}, err
	}
	p, err := permission.Compile(src, permission.Options{})
	return permission.Enforcer{Policy: p, Registry: onlyChild{}}, err
}

// MeasureChecks is the table of what the check of a message costs; each round
// makes n.
func MeasureChecks(ctx context.Context, n, rounds int, p figures.Progress) (*figures.Half, error) {
	h := &figures.Half{Name: CheckName, Title: "Check of a message, by the number of patterns in the send ACL", Base: fmt.Sprint(sizes[0])}
	enforcers := map[string]permission.Enforcer{}
	for _, size := range sizes {
		e, err := withPatterns(size)
		if err != nil {
			return h, err
		}
		h.Columns = append(h.Columns, fmt.Sprint(size))
		enforcers[fmt.Sprint(size)] = e
	}
	request := access.Request{Principal: "me", Action: access.MsgSend, Resource: "agent:last:main", Tool: "nexus_send"}
	return h, h.Run(ctx, []figures.Work{{Name: CheckRow, Title: "Check of a message that is allowed", Columns: h.Columns,
		Measure: func(ctx context.Context, column string) (float64, error) {
			e := enforcers[column]
			if d := e.Check(ctx, request); !d.Allowed() {
				return 0, fmt.Errorf("refused: %s", d.Text())
			}
			began := time.Now()
			for range n {
				e.Check(ctx, request)
			}
			return float64(time.Since(began).Nanoseconds()) / float64(n), nil
		}}}, rounds, p)
}
