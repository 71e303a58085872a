package brokerhttp

import (
	"fmt"
	"strings"

	"github.com/pinfold-dev/pinfold/broker"
)

// Lists hold what agents wrote. What one agent can write must not make a list
// larger than a client reads (maxAnswer): then its manager could answer nobody.
// So a list has long texts in brief, and ends where it would be too large: the
// oldest come first, and the others once those are gone. One row by itself has
// everything.

// rowMost is the least that a row counts for, in bytes: its ids and times.
const rowMost = 1 << 10

// briefRequests are requests for a list.
func briefRequests(rows []broker.Request) []broker.Request {
	total := 0
	for i := range rows {
		r := &rows[i]
		if len(r.Input) > maxBrief {
			r.Input = fmt.Sprintf("%q", fmt.Sprintf("%d bytes: the request by itself has them", len(r.Input)))
		}
		for _, a := range r.Also {
			total += rowMost/16 + jsonSize(string(a.Action), a.Resource)
		}
		if total += rowMost + jsonSize(r.Input, r.Input, r.Resource, r.Tool, r.Tool, r.Reason, r.DenyReason); total > maxList {
			return rows[:i]
		}
	}
	return rows
}

// briefAgents are agents for a list.
func briefAgents(rows []broker.AgentStatus) []broker.AgentStatus {
	total := 0
	for i := range rows {
		r := &rows[i]
		if len(r.Task) > maxBrief {
			r.Task = fmt.Sprintf("%s… (cut, %d bytes in all)", strings.ToValidUTF8(r.Task[:maxBrief], ""), len(r.Task))
		}
		words := 0
		for n, tool := range r.Tools {
			if words += len(tool); words > maxBrief {
				r.Tools = append(r.Tools[:n:n], fmt.Sprintf("… (cut, %d in all)", len(r.Tools)))
				break
			}
		}
		for _, s := range r.Sessions {
			total += jsonSize(s.Key, s.Route)
		}
		if total += rowMost + jsonSize(r.Task, r.Cwd, r.Model, r.Route, r.Process, r.Exit.Output) + jsonSize(r.Tools...); total > maxList {
			return rows[:i]
		}
	}
	return rows
}

// jsonSize is about what texts take as JSON, and no less: a control character is
// six bytes.
func jsonSize(texts ...string) int {
	n := 0
	for _, text := range texts {
		n += len(`"",`)
		for i := range len(text) {
			switch c := text[i]; {
			case c < ' ':
				n += 6
			case c == '"' || c == '\\' || c >= 0x7f:
				n += 2
			default:
				n++
			}
		}
	}
	return n
}
