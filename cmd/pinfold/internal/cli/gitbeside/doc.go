// Package gitbeside is what git means for a project: the git directory that lies
// outside of it, opened for --git, and hidden files that the history shows.
package gitbeside
