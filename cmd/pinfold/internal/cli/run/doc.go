// Package run has the command run, what it tells of its view (hints, summary, report),
// the broker that a run has or joins, who answers for its operator, and doctor.
package run
