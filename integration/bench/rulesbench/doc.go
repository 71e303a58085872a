//go:build linux

// Package rulesbench measures what the number of a policy's rules costs: the
// time of a Check, and the view's operations with a thousand rules against
// the same without any.
package rulesbench
