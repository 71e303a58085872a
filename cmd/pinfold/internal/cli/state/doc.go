// Package state is where pinfold keeps what outlives a process: the broker's directory,
// those of runs, which are held while they are used and removed when they are old.
package state
