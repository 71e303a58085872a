package rulesbench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/integration/bench/figures"
	"github.com/pinfold-dev/pinfold/integration/bench/worker"
	"github.com/pinfold-dev/pinfold/permission"
)

// Name is the half about Check, as goals and flags spell it.
const Name = "rules"

// Sizes are the columns: how many rules the policy has.
func Sizes() []int { return []int{0, 10, 1_000, 100_000} }

func column(n int) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

// requests are the rows.
var requests = []struct {
	name, title string
	request     access.Request
}{
	{"check_read", "Check of reading a file", access.Request{Action: access.FSRead, Resource: "services/s0/src/internal/handler/user_handler.go"}},
	{"check_write", "Check of writing by a tool", access.Request{Action: access.FSWrite, Resource: worker.WriteDir + "/internal/handler/user_handler.go", Tool: "edit_file"}},
	{"check_refused", "Check of a refused write", access.Request{Action: access.FSWrite, Resource: "services/s7/src/x.lock"}},
	{"check_send", "Check of a message to the parent", access.Request{Principal: "me", Action: access.MsgSend, Resource: "root", Tool: "nexus_send"}},
}

// Rows are the names of the rows.
func Rows() []string {
	var names []string
	for _, r := range requests {
		names = append(names, r.name)
	}
	return names
}

// onlyChild is a registry of one.
type onlyChild struct{}

func (onlyChild) Parent(id string) string {
	if id == "me" {
		return "root"
	}
	return ""
}

// Bench holds a policy of each size.
type Bench struct {
	columns   []string
	enforcers map[string]permission.Enforcer // by column
}

// New compiles policies of these sizes; the largest takes a second.
func New(sizes []int) (*Bench, error) {
	b := &Bench{enforcers: map[string]permission.Enforcer{}}
	for _, n := range sizes {
		p, err := policy(n)
		if err != nil {
			return nil, fmt.Errorf("rules: %d: %w", n, err)
		}
		b.columns = append(b.columns, column(n))
		b.enforcers[column(n)] = permission.Enforcer{Policy: p, Registry: onlyChild{}}
	}
	return b, nil
}

// Half is the empty table that Work fills.
func (b *Bench) Half() *figures.Half {
	return &figures.Half{Name: Name, Title: "Policies: Check, by the number of rules", Base: column(0), Columns: b.columns}
}

// Work lists the rows; each round makes n calls.
func (b *Bench) Work(n int) []figures.Work {
	var work []figures.Work
	for _, r := range requests {
		work = append(work, figures.Work{Name: r.name, Title: r.title, Columns: b.columns,
			Measure: func(ctx context.Context, column string) (float64, error) {
				e := b.enforcers[column]
				check(ctx, e, r.request, n/10+1)
				start := time.Now()
				check(ctx, e, r.request, n)
				return float64(time.Since(start).Nanoseconds()) / float64(n), nil
			}})
	}
	return work
}

func check(ctx context.Context, e permission.Enforcer, r access.Request, n int) {
	for range n {
		e.Check(ctx, r)
	}
}

// Allocations counts the heap allocations of one Check, of every row together,
// of a policy of each size.
func (b *Bench) Allocations(ctx context.Context, column string) float64 {
	const n = 1000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, r := range requests {
		check(ctx, b.enforcers[column], r.request, n)
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(n*len(requests))
}
