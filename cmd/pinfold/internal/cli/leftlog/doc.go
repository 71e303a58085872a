// Package leftlog remembers what runs left that can act later, tells it at the end of
// a run, and has the command left.
package leftlog
