package sandboxfs

import "sync/atomic"

// ColocateAlways has the reader loops of a view that is not mounted yet hand over
// at each request. It returns how many have run so far, and how many answer that
// are not the reader loop any more.
func (v *View) ColocateAlways() (loops, answering func() int) {
	count, within := new(atomic.Int32), v.within
	v.within = func(f func()) {
		count.Add(1)
		within(f)
	}
	v.server.ColocateAlways()
	return func() int { return int(count.Load()) }, v.server.Answering
}
