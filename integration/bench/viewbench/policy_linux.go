package viewbench

// WithPolicy is a kind that takes part only by name: pinfold, holding the
// policy in a file, which lets the write directory be written.
func WithPolicy(name, file string) Kind {
	return Kind{Name: name, Extra: true, Needs: []string{Pinfold}, Wrap: func(p Paths, argv []string) []string {
		line := []string{p.Bin + "/" + Pinfold, "run", "-C", p.Tree, "--policy", file, "--ro", p.Bin, "--"}
		return append(line, argv...)
	}}
}
