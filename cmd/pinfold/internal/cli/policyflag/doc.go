// Package policyflag has the flags that describe a policy (Flags), or name one (From),
// which mean the same to every command that has them.
package policyflag
