package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/leftlog"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli/viewhost"
	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/leftover"
	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

const summaryKinds = 10000 // distinct refusals that are told apart; bounds memory

// refused collects what a run refused, as the view and the launcher report it. It is
// read once both have ended.
type refused struct {
	wanted bool // somebody wants to know
	watch  bool // the launcher can tell what the kernel refuses

	tell func(sandboxfs.Refusal) // a broker, if one wants to know

	mu    sync.Mutex    // guards what follows
	files []*reportFile // of --report, and what 'pinfold logs' shows
	kinds map[refusalKind]int
	hosts map[hostKind]int
	total int
	shut  string // when and by what the network was closed; "": it was not

	dropped uint64 // how many attempts, at least, nobody could judge
}

// refusalKind is what makes two refusals the same to a person.
type refusalKind struct {
	op     access.Op
	place  string
	rule   access.Code
	origin string
	answer string // what the manager said
}

func (f *runFlags) newRefused(o *cli.Output, r *pathresolver.Resolver) (*refused, error) {
	c := &refused{
		wanted: f.report != "" || f.failOnDeny || o.Stderr.Terminal && !f.quiet || f.learned != nil,
		kinds:  map[refusalKind]int{}, hosts: map[hostKind]int{},
	}
	if f.learned != nil {
		c.tell = f.learned.Refused
	}
	c.watch = c.wanted && launcher.CanWatch()
	if f.report == "" {
		return c, nil
	}
	file, err := openReport(f.report, r, f.beside)
	if err == nil {
		c.files = append(c.files, file)
	}
	return c, err
}

// fromKernel is what the launcher calls, if anything.
func (c *refused) fromKernel() func(sandboxfs.Refusal) {
	if !c.watch {
		return nil
	}
	return c.add
}

// toldTo has a broker told as well, of every refusal.
func (c *refused) toldTo(d *viewhost.Denials) {
	if c.tell = d.Add; !c.wanted {
		c.wanted, c.watch = true, launcher.CanWatch()
	}
}

func (c *refused) add(r sandboxfs.Refusal) {
	if c.tell != nil {
		c.tell(r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total++
	kind := refusalKind{op: r.Op, place: r.Place, rule: r.Rule, origin: r.Origin, answer: r.Answer}
	if _, known := c.kinds[kind]; known || len(c.kinds) < summaryKinds {
		c.kinds[kind]++
	}
	for _, file := range c.files {
		file.add(r)
	}
}

func (c *refused) close() error {
	c.mu.Lock() // a further command may still be told of
	defer c.mu.Unlock()
	var asked []error
	for _, file := range c.files {
		if err := file.close(); !file.kept {
			asked = append(asked, err)
		}
	}
	c.files = nil
	return errors.Join(asked...)
}

// unjudged notes how many attempts came too fast.
func (c *refused) unjudged(n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped = n
	for _, file := range c.files {
		if n > 0 {
			file.unjudged(n)
		}
	}
}

// warn says that there may have been more refusals than were told, also where
// no terminal looks on.
func (c *refused) warn(o *cli.Output) {
	if c.dropped > 0 {
		o.Warning(fmt.Sprintf("%d attempts or more came too fast to be judged, and may have been refused", c.dropped))
	}
}

// summary prints each distinct refusal once, the most frequent first, and what would have
// allowed them.
func (c *refused) summary(o *cli.Output, advice ...func([]refusalKind) []string) {
	if c.shut != "" {
		o.Stderr.Printf("pinfold: %s\n", c.shut)
	}
	if c.total == 0 {
		return
	}
	kinds := make([]refusalKind, 0, len(c.kinds))
	for k := range c.kinds {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b refusalKind) int {
		return cmp.Or(cmp.Compare(c.kinds[b], c.kinds[a]), cmp.Compare(a.place, b.place), cmp.Compare(a.op, b.op), cmp.Compare(a.answer, b.answer))
	})
	o.Stderr.Printf("pinfold: %s refused\n", cli.Plural(c.total, "operation"))
	for i, k := range kinds {
		if i == cli.SummaryLines {
			o.Stderr.Printf("  and %d more kinds; --report FILE lists all\n", len(kinds)-i)
			break
		}
		o.Stderr.Printf("  %5d x %-6s %s  %s\n", c.kinds[k], k.op, pathresolver.EscapePath(k.place),
			o.Stderr.Paint(cli.ColourDim, strings.TrimSpace(string(k.rule)+"  "+pathresolver.OriginText(k.origin))))
		if k.answer != "" {
			o.Stderr.Printf("          answer: %s\n", pathresolver.EscapePath(k.answer))
		}
	}
	for _, hint := range c.hostSummary(o) {
		o.Hint(hint)
	}
	for _, one := range advice {
		for _, hint := range one(kinds) {
			o.Hint(hint)
		}
	}
}

// endedLine is a line of --report: a bound on what the run may use up ended it.
type endedLine struct {
	Time  string   `json:"time"`
	Ended endedFor `json:"ended"`
}

// endedFor is which bound that was, and how it is told.
type endedFor struct {
	Limit  launcher.Limit `json:"limit"`
	Reason string         `json:"reason"`
}

// limited writes to the report which bound ended the run, if one did.
func (c *refused) limited(result launcher.Result) {
	if result.Limit == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, file := range c.files {
		file.append(endedLine{cli.TimeText(time.Now()), endedFor{result.Limit, result.Reason}})
	}
}

// leftLine is a line of --report.
type leftLine struct {
	Time string        `json:"time"`
	Left leftover.Item `json:"left"`
}

// left writes what was left to the report, if one is wanted.
func (c *refused) left(left leftover.Left) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := cli.TimeText(time.Now())
	for _, file := range c.files {
		for _, i := range left.Items {
			if file.full() {
				file.omitted++
				continue
			}
			file.append(leftLine{now, leftlog.Escaped(i)})
		}
		file.omitted += left.Omitted
	}
}
