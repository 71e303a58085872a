package pathresolver

import "os"

// Parent is a held directory and a name in it: what an operation on a
// directory entry acts on. The name may be missing. Close releases it.
type Parent struct {
	Dir   *os.File // the directory, opened O_PATH on Linux; nil elsewhere
	Name  string   // one component, never "." or ".."
	Place string   // the place of the name
}

// Close releases the directory.
func (p *Parent) Close() error { return p.Dir.Close() }
