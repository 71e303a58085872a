// Package run has the command run, what it tells of its view (hints, summary, report),
// the broker that a run has or joins, and doctor.
package run
