// Package brokerclient finds the broker that a command means, speaks to it, and
// prints what it answers.
package brokerclient
