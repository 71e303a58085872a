// Package model plays the model that a coding agent talks to. A server on
// loopback speaks a vendor's streaming protocol, asks for the calls of a script one
// after the other, and keeps what the agent answered to each, which is all that a
// model ever learns of a refusal.
//
// It is as forgiving as the vendors are not: what it is asked beside the
// conversation (a title, a quota, a count of tokens) it answers with nothing much.
package model
