//go:build !portable

package pathresolver

func (r *Resolver) MoveChecked(dir int, name string, toDir int, toName, to string, noReplace bool) error {
	return inside{r}.MoveChecked(dir, name, toDir, toName, to, noReplace)
}

// PlaceOfHandle is where the kernel says that an open file lies.
func PlaceOfHandle(r *Resolver, fd int) (string, bool) { return r.placeOfHandle(fd) }
