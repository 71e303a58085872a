package run

import "github.com/pinfold-dev/pinfold/sandboxfs"

// recorded has what the view tells of changes put down, too.
func (f *runFlags) recorded(o *sandboxfs.Options) {
	if f.learned == nil {
		return
	}
	other := o.OnChange
	o.OnChange = func(c sandboxfs.Change) {
		f.learned.Changed(c)
		other(c)
	}
}
