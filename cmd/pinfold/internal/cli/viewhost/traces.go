package viewhost

import (
	"slices"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/leftover"
	"github.com/pinfold-dev/pinfold/pathresolver"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// Traces remember what is changed in the views of one run.
type Traces struct{ views []tracedView }

type tracedView struct {
	record *leftover.Record
	r      *pathresolver.Resolver
}

// Follow remembers the changes of a view. r must stay open until Left is called.
func (t *Traces) Follow(r *pathresolver.Resolver, o *sandboxfs.Options) {
	record := leftover.NewRecord(func(place string) bool {
		_, err := r.Lstat(place)
		return !leftover.Gone(err)
	})
	o.OnChange = record.Changed
	t.views = append(t.views, tracedView{record, r})
}

// Left looks at what was left, once no view serves any more.
func (t *Traces) Left() (left leftover.Left) {
	index := slices.ContainsFunc(t.views, func(v tracedView) bool { return v.record.IndexReplaced() })
	for i, v := range t.views {
		left.Add(v.record.Examine(v.r, index && i == 0)) // the first is the project's
	}
	return left
}
