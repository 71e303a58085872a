// Package figures keeps what a benchmark measured, and says what it means.
//
// A Half is a table: rows are pieces of work, columns are contestants. Run
// fills it in interleaved rounds (B A C, A C B, ...), so that a machine that
// gets slower for a minute gets slower for everyone; a Cell's figure is the
// median of its rounds. Only quotients of two cells of one run mean anything,
// which is why a Goal is a quotient, but for the few that are times.
//
// Nothing in here is safe for concurrent use: measuring is done by one
// goroutine, or it measures the others.
package figures
