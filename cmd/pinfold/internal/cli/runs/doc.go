// Package runs has the commands that act on runs that go on: ps, stop, logs, exec, allow, hide. The run's own
// process does what they ask for (package live); inside a run each of them refuses.
package runs
