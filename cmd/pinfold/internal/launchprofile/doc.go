// Package launchprofile knows how an agent is started in a run: its launch profile, a
// file of data (Load), and where it is installed here and what that is made of (Find).
//
// A profile grants nothing by itself: 'pinfold run --app' turns it into the flags that
// its user could type, and shows them with --dry-run.
package launchprofile
