// Package skillask calls skills of which some have to be asked for: it puts what the
// rules mark so to whoever judges, and makes the call anew with what was granted.
package skillask
