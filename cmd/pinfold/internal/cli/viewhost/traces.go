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
	view   *sandboxfs.View // nil: its rules stay those of r
}

// Follow remembers the changes of a view. r must stay open until Left is called.
func (t *Traces) Follow(r *pathresolver.Resolver, o *sandboxfs.Options) {
	record := leftover.NewRecord(func(place string) bool {
		_, err := r.Lstat(place)
		return !leftover.Gone(err)
	})
	o.OnChange = record.Changed
	t.views = append(t.views, tracedView{record: record, r: r})
}

// Changes says that the rules of the view that was followed first may change.
func (t *Traces) Changes(view *sandboxfs.View) { t.views[0].view = view }

// Left looks at what was left, once no view serves any more.
func (t *Traces) Left() (left leftover.Left) {
	index := slices.ContainsFunc(t.views, func(v tracedView) bool { return v.record.IndexReplaced() })
	for i, v := range t.views {
		r := v.r
		if v.view != nil {
			r = v.view.Resolver()
		}
		left.Add(v.record.Examine(r, index && i == 0)) // the first is the project's
	}
	return left
}
