// Package skillask calls skills that may have to be asked for: it puts what the rules
// mark so to a Judge, and makes the call anew with what was granted.
package skillask
