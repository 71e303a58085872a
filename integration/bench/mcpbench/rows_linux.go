package mcpbench

import (
	"context"

	"github.com/pinfold-dev/pinfold/integration/bench/figures"
)

// row is one line of the table.
type row struct {
	name, title string
	calls       func(o Options) int
	says        string // what a good answer holds
	noSync      bool   // asks servers that have one for their way without fsync
}

func few(Options) int { return 1 }

func many(o Options) int { return o.Calls }

// rows in the order of the table.
var rows = []row{
	{name: "read_1k", title: "read 1 KiB", calls: many, says: "end of the line"},
	{name: editNoSync, title: "edit 1 KiB, pinfold --no-sync, no fsync anywhere", calls: many, noSync: true},
	{name: editFsync, title: "edit 1 KiB, pinfold as is, bare with fsync of the file", calls: many},
	{name: editDurable, title: "edit 1 KiB, pinfold as is, bare with fsync of file and directory", calls: many},
	{name: "read_10m", title: "read the head of 10 MiB", calls: few, says: "end of the line"},
	{name: "glob", title: "glob over all files", calls: few, says: rareEnding},
	{name: "grep", title: "grep over all files", calls: few, says: rareEnding},
}

// StartRow is from nothing to an initialized server.
const StartRow = "mcp_start"

// Rows are the names of all of them.
func Rows() []string {
	names := make([]string, 0, len(rows)+1)
	for _, r := range rows {
		names = append(names, r.name)
	}
	return append(names, StartRow)
}

// Work lists the rows, each with those that can do it.
func (b *Bench) Work() []figures.Work {
	var work []figures.Work
	for _, r := range rows {
		w := figures.Work{Name: r.name, Title: r.title,
			Measure: func(_ context.Context, column string) (float64, error) { return b.measure(r, column) }}
		for _, k := range b.kinds {
			if tool, _ := k.call(r.name, b.o); tool != "" {
				w.Columns = append(w.Columns, k.name)
			}
		}
		work = append(work, w)
	}
	return append(work, figures.Work{Name: StartRow, Title: "start and initialize", Columns: b.half.Columns,
		Measure: func(_ context.Context, column string) (float64, error) { return b.start(column) }})
}
