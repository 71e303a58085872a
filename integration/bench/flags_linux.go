package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/integration/bench/brokerbench"
	"github.com/pinfold-dev/pinfold/integration/bench/figures"
	"github.com/pinfold-dev/pinfold/integration/bench/mcpbench"
	"github.com/pinfold-dev/pinfold/integration/bench/resolverbench"
	"github.com/pinfold-dev/pinfold/integration/bench/rulesbench"
	"github.com/pinfold-dev/pinfold/integration/bench/viewbench"
	"github.com/pinfold-dev/pinfold/integration/bench/worker"
)

// usageError is a command line that means nothing.
type usageError struct{ error }

// The halves that view tables go by.
const (
	rootHalf = "root"
	userHalf = "user"
)

type options struct {
	rows, peers, halves []string
	rounds              int
	quick, noInstall    bool
	json, dir           string
	pinfold, also       string
}

func parseFlags(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	rows := f.String("rows", "*", "rows to measure: names or globs, separated by commas")
	peers := f.String("peers", "*", "columns of the view's tables: names or globs; native and pinfold always; mount, hide1000 and wp100 only by name")
	halves := f.String("halves", "resolver,root,user,mcp,rules,broker", "tables to make")
	f.IntVar(&o.rounds, "rounds", 0, fmt.Sprintf("rounds of every row (default: resolver %d, views %d, mcp %d, rules %d, broker %d; with --quick 3)", resolverRounds, viewRounds, mcpRounds, rulesRounds, brokerRounds))
	f.BoolVar(&o.quick, "quick", false, "a small tree and few rounds: shows that it runs, not how fast")
	f.BoolVar(&o.noInstall, "no-install", false, "do not install missing peers with apt-get")
	f.StringVar(&o.json, "json", "", "also write all rounds to this `file`")
	f.StringVar(&o.dir, "dir", "/var/tmp", "make the tree beneath this `directory`; its file system is measured")
	f.StringVar(&o.pinfold, "pinfold", "", "measure this `binary` (default: built from ./cmd/pinfold)")
	f.StringVar(&o.also, "also", "", "measure this `binary` of pinfold, too, in a column of its own: before and after a change")
	f.Usage = func() { usage(f) }
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, usageError{err}
	}
	if f.NArg() > 0 {
		return o, usageError{fmt.Errorf("unexpected argument %q", f.Arg(0))}
	}
	if o.also != "" {
		*peers += "," + viewbench.Also
	}
	o.rows, o.peers, o.halves = split(*rows), split(*peers), split(*halves)
	for _, h := range o.halves {
		if !slices.Contains([]string{resolverbench.Name, rootHalf, userHalf, mcpbench.Name, rulesbench.Name, brokerbench.Name}, h) {
			return o, usageError{fmt.Errorf("unknown half %q: want resolver, root, user, mcp, rules or broker", h)}
		}
	}
	if o.rounds < 0 {
		return o, usageError{fmt.Errorf("--rounds %d: want 1 or more", o.rounds)}
	}
	for _, glob := range slices.Concat(o.rows, o.peers) {
		if _, err := path.Match(glob, ""); err != nil {
			return o, usageError{fmt.Errorf("%q: %w", glob, err)}
		}
	}
	return o, nil
}

// usage lists the flags, and what --rows and --peers may name.
func usage(f *flag.FlagSet) {
	fmt.Fprintln(f.Output(), "bench measures pinfold side by side with the alternatives. Its flags:")
	f.PrintDefaults()
	var rows, peers []string
	for _, r := range worker.Rows() {
		rows = append(rows, r.Name)
	}
	for _, k := range viewbench.Kinds() {
		peers = append(peers, k.Name)
	}
	fmt.Fprintf(f.Output(), "Rows of the views: %s %s %s\nRows of mcp: %s %s\nRows of rules: %s, and some of the views\nRows of broker: %s\nPeers: %s\nTwo builds of pinfold, on three rows:\n  %s\n",
		strings.Join(rows, " "), viewbench.StartRow, viewbench.ProbeRow, strings.Join(mcpbench.Rows(), " "), mcpbench.AllocsRow, strings.Join(rulesbench.Rows(), " "), strings.Join(brokerbench.Rows(), " "), strings.Join(peers, " "),
		"bench --halves root --rows create,rename,append --peers bindfs --pinfold old --also new")
}

func split(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "" })
}

// matches says whether a glob of the list covers name. The globs are valid.
func matches(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		ok, _ := path.Match(g, name)
		return ok
	})
}

func (o options) roundsOr(usual int) int {
	switch {
	case o.rounds > 0:
		return o.rounds
	case o.quick:
		return 3
	}
	return usual
}

func (o options) pick(work []figures.Work) []figures.Work {
	return slices.DeleteFunc(work, func(w figures.Work) bool { return !matches(o.rows, w.Name) })
}

// kinds keeps the base and pinfold, whatever was asked for: without them is no
// ratio.
func (o options) kinds() []viewbench.Kind {
	return slices.DeleteFunc(viewbench.Kinds(), func(k viewbench.Kind) bool {
		if k.Extra {
			return !slices.Contains(o.peers, k.Name)
		}
		return k.Name != "native" && k.Name != viewbench.Pinfold && !matches(o.peers, k.Name)
	})
}
