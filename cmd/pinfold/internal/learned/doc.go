// Package learned finds the smallest write paths by which a run would have done what it
// did: what a view told of it is put down in a Record, and WritePaths says what had to be
// open for it.
package learned
