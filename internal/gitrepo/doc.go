// Package gitrepo says what git would make of a directory: which repository
// it belongs to, where that repository's parts lie, and which files beneath it
// the configuration names for git to run or read by itself. It reads and
// describes, runs nothing, and decides nothing: the caller protects what is
// named.
//
// It exists because a file that configuration names acts in the operator's own
// git, long after an agent has left: core.hooksPath = .husky makes each file
// in .husky a program that the next commit runs, include.path = ../git.inc
// makes a file of the work tree part of the configuration.
//
// # What counts
//
// Every value of a key counts, not only the last one, and every condition of an
// include counts as true: which of them applies depends on a branch or a
// remote that an agent may change. What a named program reads in its turn is
// not followed: a script in .husky may run npm, and npm what package.json says.
// Commands that run what the project says without naming it are told, those of
// hooks as well (Runner).
//
// # Limits
//
// What cannot be understood is an *Error with the file and the line, so that
// the caller refuses to start instead of leaving something open. A repository
// is looked for in the directory itself and not in the directories above it.
// Everything that is read is bounded: see the constants beside each reader.
// Not read are GIT_CONFIG_PARAMETERS, which git sets for its own children
// alone, remotes that stand in the remotes and branches directories, and the
// configuration of other repositories: a submodule's is Inspect's answer for
// the submodule.
package gitrepo
