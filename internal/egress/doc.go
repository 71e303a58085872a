// Package egress says which hosts a command may connect to.
//
//	rules, err := egress.Parse([]string{"example.com", "*.example.org:443", "localhost:5432"})
//	rules.Allows("example.com", 443)
//
// It decides by names and numbers alone and asks nobody: that a name leads to an address
// which may be dialled is said by Rules.Dialable, of the address that is dialled.
package egress
