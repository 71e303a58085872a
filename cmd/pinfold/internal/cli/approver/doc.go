// Package approver is --approve of run: it answers what the run's command asks for,
// for whoever started the run: at the terminal that the command runs on, on a page, by
// a command of the operator's, or always with no.
package approver
